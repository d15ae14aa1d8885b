"""The syntax tree."""

from __future__ import annotations

from rules_engine.dialect.nodes import EMPTY, Atomic, Chars, Choice, Group, Sequence, children, walk


def test_walk_goes_through_everything_in_order() -> None:
    """Every node comes before what is below it."""
    a, b = Chars(((97, 97),)), Chars(((98, 98),))
    group, atomic = Group(a, 1), Atomic(b)
    choice = Choice((group, atomic))
    tree = Sequence((choice, EMPTY))
    assert list(walk(tree)) == [tree, choice, group, a, atomic, b, EMPTY]
    assert children(a) == ()
