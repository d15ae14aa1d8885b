from __future__ import annotations

from rules_engine.discovery import Roots, discover
from rules_engine.discovery.windsurf import PROVIDER
from tests.support.trees import DictTree


def test_windsurf_reads_markdown_of_the_project_and_one_global_file() -> None:
    """The user's file is the rule `global_rules`; `.mdc` is none of this convention."""
    tree = DictTree(
        {
            "/h/.codeium/windsurf/memories/global_rules.md": "user",
            "/h/.codeium/windsurf/memories/other.md": "no",
            "/w/.windsurf/rules/a.md": "project",
            "/w/.windsurf/rules/b.mdc": "no",
        }
    )
    rules, _ = discover(tree, Roots(home="/h", workspace="/w"), [PROVIDER])
    assert [(rule.name, rule.body) for rule in rules] == [
        ("a", "project"),
        ("global_rules", "user"),
    ]
