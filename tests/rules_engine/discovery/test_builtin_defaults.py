from __future__ import annotations

from rules_engine.discovery import Roots, discover
from rules_engine.discovery.builtin_defaults import PROVIDER
from rules_engine.rule import Origin
from tests.support.trees import DictTree


def test_builtin_defaults_hide_where_they_are_installed() -> None:
    """Their shown path is the convention's name and the file's."""
    tree = DictTree({"/lib/site-packages/builtin/a.md": "x"})
    rules, _ = discover(tree, Roots(builtins="/lib/site-packages/builtin"), [PROVIDER])
    assert [(rule.path, rule.origin) for rule in rules] == [
        ("builtin-defaults:a.md", Origin.BUILTIN)
    ]
