"""Widths and reaches."""

from __future__ import annotations

import pytest

from rules_engine.dialect.measure import Measure, counts_units
from rules_engine.dialect.nodes import Node
from rules_engine.dialect.parse import Flags, parse


def _parse(source: str, *, extended: bool = False) -> Node:
    return parse(source, Flags(), extended=extended)


@pytest.mark.parametrize(
    ("source", "low", "high"),
    [
        ("", 0, 0),
        ("abc", 3, 3),
        ("a|bcd", 1, 3),
        ("a{2,5}b*", 2, None),
        ("(?=abc)^\\b", 0, 0),
        ("(ab?)\\1", 1, 4),
        ("(\\2a)(\\1b)", 2, None),
        ("(?:\\b)*a", 1, 1),
        ("\U0001f600", 2, 2),
    ],
)
def test_width_is_counted_in_units(source: str, low: int, high: int | None) -> None:
    """The least and the greatest number of units that a match takes."""
    tree = _parse(source)
    assert Measure.of(tree).width(tree) == (low, high)


@pytest.mark.parametrize(
    ("source", "behind"),
    [
        ("abc$", 0),
        ("\\babc", 1),
        ("^a", 1),
        ("(?<=ab)c", 2),
        ("(?<!a(?<=bc))d", 3),
        ("(?<=a*)b", None),
        ("(?=(?<=abc)d)", 3),
    ],
)
def test_behind_is_how_far_a_match_looks_back(source: str, behind: int | None) -> None:
    """What stands further in front of a match cannot change it."""
    tree = _parse(source)
    assert Measure.of(tree).behind(tree) == behind


@pytest.mark.parametrize(
    ("source", "bounded"),
    [
        ("a.b", True),
        ("a\\sb", False),
        ("a[^b]", False),
        ("a(?=\\n)", True),
        ("(?=([^]))\\1", False),
        ("(a)(\\1)\\2", False),
        ("(a)\\1", True),
    ],
)
def test_line_bounded_means_no_terminator_in_a_match(source: str, *, bounded: bool) -> None:
    """A reference counts by what its group may capture."""
    tree = _parse(source)
    assert Measure.of(tree).line_bounded(tree) == bounded


def test_counts_units_if_half_a_character_can_match() -> None:
    """A dot takes halves, a word character does not."""
    assert counts_units(_parse("a."))
    assert counts_units(_parse("\U0001f600"))
    assert not counts_units(_parse("\\w\\s[a-z]"))
    assert Measure.of(_parse("(?>a)", extended=True)).width(_parse("(?>a)", extended=True)) == (
        1,
        1,
    )
