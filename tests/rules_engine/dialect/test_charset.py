"""Sets of code units."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rules_engine.dialect.charset import (
    ALL,
    DIGITS,
    DOT,
    LAST,
    SPACE,
    WORD,
    chars,
    charset,
    complement,
    contains,
    overlaps,
    single,
    size,
)

_POINTS = st.integers(0, LAST)
_RANGES = st.lists(st.tuples(_POINTS, _POINTS).map(lambda pair: (min(pair), max(pair))))


@given(_RANGES, _POINTS)
def test_charset_holds_what_any_of_its_ranges_holds(ranges: list[tuple[int, int]], at: int) -> None:
    """Bringing ranges into normal form changes no membership."""
    assert contains(charset(ranges), at) == any(low <= at <= high for low, high in ranges)


@given(_RANGES, _POINTS)
def test_complement_holds_the_others(ranges: list[tuple[int, int]], at: int) -> None:
    """A unit is in exactly one of a set and its complement, and twice is the set again."""
    members = charset(ranges)
    assert contains(complement(members), at) != contains(members, at)
    assert complement(complement(members)) == members


@given(_RANGES, _RANGES)
def test_overlaps_means_a_shared_unit(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    """Two sets overlap exactly if together they are smaller than both."""
    first, second = charset(left), charset(right)
    shared = size(first) + size(second) - size(charset((*first, *second)))
    assert overlaps(first, second) == (shared > 0)


def test_standard_sets_are_those_of_javascript() -> None:
    """Digits and words are ASCII, white space is JavaScript's, the dot stops at line ends."""
    assert size(DIGITS) == 10
    assert size(WORD) == 63
    assert size(SPACE) == 25
    assert complement(DOT) == chars("\n\r\u2028\u2029")
    assert complement(()) == ALL
    assert single(7) == ((7, 7),)
