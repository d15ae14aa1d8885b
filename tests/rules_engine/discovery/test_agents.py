from __future__ import annotations

from rules_engine.discovery import Roots, discover
from rules_engine.discovery.agents import PROVIDER
from rules_engine.rule import Origin
from tests.support.trees import DictTree


def bodies(files: dict[str, str], roots: Roots) -> list[str]:
    return [rule.body for rule in discover(DictTree(files), roots, [PROVIDER])[0]]


def test_agents_walk_up_to_the_repository_and_then_home() -> None:
    """Nearest first, `.agent` before `.agents`, nothing above the repository's root."""
    files = {
        "/r/.git/HEAD": "",
        "/.agents/rules/a.md": "above",
        "/r/.agents/rules/a.md": "root",
        "/r/p/.agents/rules/a.md": "near, second",
        "/r/p/.agent/rules/a.md": "near, first",
        "/h/.agent/rules/a.md": "home",
    }
    roots = Roots(home="/h", workspace="/r/p")
    assert bodies(files, roots) == ["near, first", "near, second", "root", "home"]


def test_agents_read_home_once_and_as_the_users() -> None:
    """A repository at home does not make the user's own rules a project's."""
    files = {"/h/.git/HEAD": "", "/h/.agents/rules/a.md": "home"}
    rules, _ = discover(DictTree(files), Roots(home="/h", workspace="/h/w"), [PROVIDER])
    assert [rule.origin for rule in rules] == [Origin.USER]
