"""The cursor over a source."""

from __future__ import annotations

from rules_engine.dialect.source import Cursor


def test_cursor_reads_code_units() -> None:
    """An astral character is read as its two halves."""
    cursor = Cursor("\U0001f600a")
    assert [cursor.take() for _ in range(3)] == ["\ud83d", "\ude00", "a"]
    assert not cursor.more
    assert cursor.char == ""


def test_cursor_takes_only_what_comes_next() -> None:
    """Skipping answers whether it happened."""
    cursor = Cursor("?:12x")
    assert not cursor.skip("?=")
    assert cursor.skip("?:")
    assert cursor.take_while("0123456789", 1) == "1"
    assert cursor.take_while("0123456789", 9) == "2"
    assert cursor.sees("x")


def test_cursor_error_counts_characters_of_the_source() -> None:
    """Places are told as the author sees the source, behind what stood in front of it."""
    cursor = Cursor("\U0001f600a", base=3)
    assert cursor.error("no", 0).offset == 3
    assert cursor.error("no", 2).offset == 4
    assert cursor.error("no", 3).offset == 5
