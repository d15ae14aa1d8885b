"""Spelling of sets for the engine."""

from __future__ import annotations

import regex
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.dialect.charset import LAST, SURROGATES, WORD, chars, charset, contains
from rules_engine.dialect.render import folded_letter, only_unit, render_set, render_unit

_POINTS = st.one_of(st.integers(0, 0x7F), st.integers(0, LAST), st.integers(0xD7F0, 0xE010))
_RANGES = st.lists(st.tuples(_POINTS, _POINTS).map(lambda pair: (min(pair), max(pair))), min_size=1)


@given(ranges=_RANGES, at=_POINTS, ascii_only=st.booleans())
def test_render_set_matches_its_members(
    ranges: list[tuple[int, int]], at: int, *, ascii_only: bool
) -> None:
    """The engine takes exactly the units of the set."""
    members = charset(ranges)
    text = render_set(members, ascii_only=ascii_only)
    assert text is not None
    found = regex.compile(text, regex.ASCII if ascii_only else 0).fullmatch(chr(at))
    assert (found is not None) == contains(members, at)


@given(st.integers(0, LAST))
def test_render_unit_is_literal(code: int) -> None:
    """No unit means anything but itself."""
    assert regex.fullmatch(render_unit(code), chr(code)) is not None


def test_render_set_without_surrogates_takes_no_astral_character() -> None:
    """A set that holds no halves is never spelt as a negation."""
    others = charset(((0, SURROGATES[0][0] - 1), (SURROGATES[0][1] + 1, LAST)))
    text = render_set(others, ascii_only=True)
    assert text is not None
    assert regex.fullmatch(text, "\U0001f600") is None
    assert render_set((), ascii_only=True) is None
    assert render_set(WORD, ascii_only=True) == r"\w"


def test_folded_letter_is_a_letter_in_both_cases() -> None:
    """Only a capital and its small letter, nothing else."""
    assert folded_letter(chars("aA")) == "a"
    assert folded_letter(chars("ab")) is None
    assert folded_letter(chars("[{")) is None
    assert folded_letter(chars("éÉ")) is None
    assert folded_letter(chars("a")) is None
    assert folded_letter(((0x41, 0x42), (0x61, 0x62))) is None
    assert only_unit(chars("a")) == ord("a")
    assert only_unit(chars("ab")) is None
