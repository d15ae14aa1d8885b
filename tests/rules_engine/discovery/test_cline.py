from __future__ import annotations

import pytest

from rules_engine.discovery import Roots, discover
from rules_engine.discovery.cline import PROVIDER
from tests.support.trees import DictTree

ROOTS = Roots(workspace="/r/p/q")


def names(files: dict[str, str]) -> list[tuple[str, str]]:
    rules, _ = discover(DictTree(files), ROOTS, [PROVIDER])
    return [(rule.name, rule.body) for rule in rules]


@pytest.mark.case(59)
def test_cline_reads_one_file_above_the_workspace() -> None:
    """A file two levels up is the rule `clinerules`."""
    assert names({"/r/.clinerules": "x"}) == [("clinerules", "x")]


def test_cline_reads_a_directory() -> None:
    """A directory gives its Markdown files, and nothing further up is looked at."""
    files = {
        "/r/.clinerules": "far",
        "/r/p/.clinerules/b.md": "b",
        "/r/p/.clinerules/a.md": "a",
        "/r/p/.clinerules/c.mdc": "no",
    }
    assert names(files) == [("a", "a"), ("b", "b")]
