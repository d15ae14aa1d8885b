"""Static captures."""

from __future__ import annotations

import pytest

from rules_engine.dialect.nodes import Group, Node, Reference, walk
from rules_engine.dialect.parse import Flags, parse
from rules_engine.dialect.resolve import Resolved, groups_in, resolve


def _resolve(source: str) -> Resolved:
    return resolve(parse(source, Flags()))


def _references(tree: Node) -> list[tuple[int, ...]]:
    return [node.numbers for node in walk(tree) if isinstance(node, Reference)]


@pytest.mark.parametrize("source", ["(a\\1)", "(?!(a))\\1", "(?<!(a))\\1", "(a){0}\\1"])
def test_resolve_drops_references_that_are_never_set(source: str) -> None:
    """Inside its own group, or outside a negation, a reference matches nothing."""
    tree = _resolve(source).tree
    assert _references(tree) == []
    assert groups_in(tree) == frozenset()


def test_resolve_keeps_only_groups_that_are_referred_to() -> None:
    """The other groups capture for nobody."""
    tree = _resolve("(a)(b)(c)\\2").tree
    assert [node.number for node in walk(tree) if isinstance(node, Group)] == [2]


@pytest.mark.parametrize(
    ("source", "loose"),
    [
        ("(a)\\1", set()),
        ("(a)?\\1", {1}),
        ("\\1(a)", {1}),
        ("(?:(a)|b)\\1", {1}),
        ("(?:(a)\\1)*", set()),
        ("(?:(a)|b)*\\1", {1}),
        ("(?:(a)b)+\\1", set()),
        ("(?<=\\1(a))", set()),
        ("(?<=(a)\\1)", {1}),
        ("(?=(a))\\1", set()),
    ],
)
def test_resolve_finds_references_that_may_meet_an_unset_group(
    source: str, loose: set[int]
) -> None:
    """Only those groups need to be reset; lookbehinds are read backwards."""
    assert _resolve(source).loose == loose


@pytest.mark.parametrize(
    ("source", "unstable"),
    [
        ("(?=(a+))\\1", {1}),
        ("(?<=(a+))\\1", set()),
        ("(?<=(a+)(?=b))\\1", {1}),
        ("(?<=\\b(a+))\\1", {1}),
        ("(?=(a)\\1)", set()),
        ("(a)(?=\\1)", set()),
    ],
)
def test_resolve_finds_captures_that_more_text_may_change(source: str, unstable: set[int]) -> None:
    """A capture leaves a lookahead, or a lookbehind that looks ahead."""
    assert _resolve(source).unstable == unstable
