from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rules_engine.growing import GrowingText


@given(
    st.text("ab\U0001f600", max_size=3),
    st.lists(st.tuples(st.text("ab\U0001f600", max_size=4), st.integers(0, 9)), max_size=40),
)
def test_it_is_the_sum_of_its_pieces(start: str, steps: list[tuple[str, int]]) -> None:
    """Whole, length and end, asked for in any order or never."""
    text, plain = GrowingText(start), start
    for piece, count in steps:
        text.append(piece)
        plain += piece
        assert text.length == len(plain)
        assert text.end(count) == plain[max(0, len(plain) - count) :]
        if count > 6:
            assert text.whole == plain
    assert text.whole == plain


def test_pieces_do_not_pile_up() -> None:
    """A text that nobody asks for is joined now and then, for the sake of memory."""
    text = GrowingText()
    for _ in range(10_000):
        text.append("x")
    assert len(text._late) <= 300
    assert text.whole == "x" * 10_000
