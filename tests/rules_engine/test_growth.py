from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rules_engine.growth import Growth, Joiner


def test_growth_knows_where_each_character_came_from() -> None:
    """A character arrives at the source offset that it was added with."""
    growth = Growth()
    growth.append("ab", 3)
    growth.append("c", 9)
    growth.append_late("de", 20)
    assert growth.text == "abcde"
    assert [growth.arrival(length) for length in range(7)] == [0, 3, 4, 9, 20, 20, 20]


def test_growth_follows_its_parents_to_the_raw_text() -> None:
    """An offset in the parent's text is translated by the parent."""
    raw = Growth()
    raw.append("xyz", 11)
    inner = Growth(raw)
    inner.append("z", 3)
    assert inner.arrival(1) == 13


def test_growth_ignores_nothing() -> None:
    """Adding no text changes nothing."""
    growth = Growth()
    growth.append("", 5)
    assert (growth.text, growth.length, growth.arrival(1)) == ("", 0, 0)


@given(st.lists(st.text(min_size=1, max_size=4)), st.integers(0, 30))
def test_growth_since_is_a_slice_of_the_text(pieces: list[str], length: int) -> None:
    """`since` gives what lies behind a length, wherever the pieces' borders are."""
    growth = Growth()
    for piece in pieces:
        growth.append(piece, growth.length + 1)
    assert growth.since(min(length, growth.length)) == growth.text[length:]
    assert growth.text == "".join(pieces)


def test_joiner_joins_the_halves_of_a_pair() -> None:
    """Two halves in a row are one character, known with the second."""
    joiner = Joiner(Growth())
    joiner.write("a\ud83d", 0)
    assert joiner.growth.text == "a"
    joiner.write("\ude00b", 2)
    assert joiner.growth.text == "a\U0001f600b"
    assert joiner.growth.arrival(2) == 3


def test_joiner_replaces_lone_halves() -> None:
    """A half without its partner is U+FFFD, told once the next character is known."""
    joiner = Joiner(Growth())
    joiner.write("\ude00x\ud83d\ud83dy\ud83d", 0)
    assert joiner.growth.text == "\ufffdx\ufffd\ufffdy"
    assert joiner.growth.arrival(3) == 4
    joiner.end(9)
    assert joiner.growth.text.endswith("y\ufffd")
    assert joiner.growth.arrival(joiner.growth.length) == 9
