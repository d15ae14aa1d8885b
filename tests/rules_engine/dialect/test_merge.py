"""Several patterns as one tree."""

from __future__ import annotations

from rules_engine.dialect.merge import merge
from rules_engine.dialect.nodes import EMPTY, Choice, Node, Sequence
from rules_engine.dialect.parse import Flags, parse


def _tree(source: str) -> Node:
    return parse(source, Flags())


def _merged(*sources: str) -> Node:
    return merge(map(_tree, sources))


def test_shared_beginning_stands_once() -> None:
    """What comes behind it is chosen there."""
    a, b, c, d = map(_tree, "abcd")
    assert _merged("abc", "abd") == Sequence((a, b, Choice((c, d))))
    assert _merged("ab", "cd") == Choice((Sequence((a, b)), Sequence((c, d))))
    assert _merged("ab") == Sequence((a, b))


def test_pattern_that_begins_another_leaves_nothing_of_it() -> None:
    """Where the shorter one matches, it does not matter what follows."""
    assert _merged("ab", "abc", "abd") == _tree("ab")
    assert _merged("ab", "ab") == _tree("ab")
    assert _merged("ab", "") == EMPTY
