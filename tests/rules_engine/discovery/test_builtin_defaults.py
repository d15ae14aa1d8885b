from __future__ import annotations

from rules_engine.discovery import Roots, TreeEntry, Unread, discover
from rules_engine.discovery.builtin_defaults import PROVIDER
from rules_engine.problems import Code
from rules_engine.rule import Origin
from tests.support.trees import DictTree


def test_builtin_defaults_hide_where_they_are_installed() -> None:
    """Their shown path is the convention's name and the file's."""
    tree = DictTree({"/lib/site-packages/builtin/a.md": "x"})
    rules, _ = discover(tree, Roots(builtins="/lib/site-packages/builtin"), [PROVIDER])
    assert [(rule.path, rule.origin) for rule in rules] == [
        ("builtin-defaults:a.md", Origin.BUILTIN)
    ]


def test_builtin_defaults_report_what_cannot_be_listed() -> None:
    """A missing permission is a problem here as anywhere."""

    class Locked(DictTree):
        def list(self, directory: str) -> tuple[tuple[TreeEntry, ...], tuple[Unread, ...]]:
            return (), (Unread(Code.UNREADABLE, directory),)

    _, problems = discover(Locked({}), Roots(builtins="/lib"), [PROVIDER])
    assert [problem.code for problem in problems] == [Code.UNREADABLE]
