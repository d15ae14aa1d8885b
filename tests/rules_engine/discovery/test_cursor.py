from __future__ import annotations

import pytest

from rules_engine.discovery import Roots, discover
from rules_engine.discovery.cursor import PROVIDER
from rules_engine.globs import Glob
from tests.support.trees import DictTree


@pytest.mark.case(52)
def test_cursor_puts_the_project_before_the_user() -> None:
    """Of two rules of a name the project's comes first."""
    tree = DictTree({"/h/.cursor/rules/a.mdc": "user", "/w/.cursor/rules/a.mdc": "project"})
    rules, _ = discover(tree, Roots(home="/h", workspace="/w"), [PROVIDER])
    assert [rule.body for rule in rules] == ["project", "user"]


def test_cursor_reads_its_own_bare_globs() -> None:
    """Cursor writes globs unquoted and joined by commas."""
    text = "---\ndescription: d\nglobs: *.ts,src/**/*.tsx\nalwaysApply: false\n---\nx"
    rules, _ = discover(
        DictTree({"/w/.cursor/rules/a.mdc": text}), Roots(workspace="/w"), [PROVIDER]
    )
    assert rules[0].globs == (Glob("*.ts"), Glob("src/**/*.tsx"))
    assert (rules[0].description, rules[0].always_apply) == ("d", False)
