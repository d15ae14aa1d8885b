"""Texts as UTF-16 code units."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rules_engine.dialect.units import has_astral, join_units, pair, split_units

_TEXT = st.text(st.sampled_from("ab\U0001f600\U00010428\ud83d\ude00é"))


@given(_TEXT)
def test_split_units_gives_utf16(text: str) -> None:
    """Every element is one code unit, in the order of UTF-16."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    assert [ord(unit) for unit in split_units(text)] == [
        encoded[at] | encoded[at + 1] << 8 for at in range(0, len(encoded), 2)
    ]


@given(_TEXT, _TEXT)
def test_split_units_of_a_prefix_is_a_prefix(text: str, more: str) -> None:
    """Splitting does not depend on what follows."""
    assert split_units(text + more) == split_units(text) + split_units(more)


@given(_TEXT)
def test_join_units_undoes_the_split(text: str) -> None:
    """Joined units spell the text in which every pair is one character."""
    joined = join_units(split_units(text))
    assert joined.encode("utf-16-le", "surrogatepass") == text.encode("utf-16-le", "surrogatepass")
    assert join_units(joined) == joined


def test_has_astral_looks_from_a_place_on() -> None:
    """Only characters beyond U+FFFF count, not halves of them."""
    assert has_astral("\U0001f600a")
    assert not has_astral("\U0001f600a", 1)
    assert not has_astral("\ud83d\ude00é")
    assert join_units("plain") == "plain"
    assert chr(pair(0xD83D, 0xDE00)) == "\U0001f600"
