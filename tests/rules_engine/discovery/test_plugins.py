from __future__ import annotations

from rules_engine.discovery import Roots, discover
from rules_engine.discovery.plugins import PROVIDER
from rules_engine.rule import Origin
from tests.support.trees import DictTree


def test_plugins_read_rules_of_each_root_in_order() -> None:
    """`rules/` of every configured root, in the order of the setting."""
    tree = DictTree({"/p/rules/a.md": "x", "/q/rules/a.md": "y", "/q/other/b.md": "z"})
    rules, _ = discover(tree, Roots(plugin_roots=("/q", "/p")), [PROVIDER])
    assert [(rule.body, rule.origin) for rule in rules] == [
        ("y", Origin.PLUGIN),
        ("x", Origin.PLUGIN),
    ]
