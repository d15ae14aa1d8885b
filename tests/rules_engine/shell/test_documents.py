from __future__ import annotations

import pytest

from rules_engine.growth import Growth
from rules_engine.shell.documents import Document


def document(*, tabbed: bool = False, expands: bool = True) -> Document:
    return Document("EOF", Growth(), tabbed=tabbed, expands=expands)


@pytest.mark.parametrize(
    ("line", "verdicts"),
    [
        ("EOF\n", [True, True, True, None]),
        ("EOF\r\n", [True, True, True, True, None]),
        ("EOF\r\r", [True, True, True, True, False]),
        ("EOFF", [True, True, True, False]),
        ("x", [False]),
        ("\t", [False]),
        ("\n", [False]),
    ],
)
def test_line_is_the_end_or_text(line: str, verdicts: list[bool | None]) -> None:
    """Each character says whether the line may still be the end, is it, or is not."""
    one = document()
    assert [one.could_end(character) for character in line] == verdicts


def test_tabs_may_stand_in_front_where_they_are_dropped() -> None:
    """They are no part of the text either."""
    one = document(tabbed=True)
    assert [one.could_end(character) for character in "\t\tEx"] == [True, True, True, False]
    assert one.open_line(9)
    assert one.growth.text == "E"


def test_return_behind_the_end_is_text_if_the_line_goes_on() -> None:
    """Only a line end makes it one."""
    one = document()
    assert [one.could_end(character) for character in "EOF\rx"] == [True] * 4 + [False]
    one.open_line(5)
    assert one.growth.text == "EOF\r"


def test_lines_are_joined_by_what_ends_them() -> None:
    """What a line began with was known when it was found to be text."""
    one = document()
    assert not one.unfinished
    assert one.could_end("E")
    assert one.unfinished
    assert one.open_line(4)
    assert not one.open_line(7)
    assert (one.growth.text, one.growth.arrival(1), one.growth.arrival(2)) == ("E\n", 4, 7)


def test_run_of_plain_text_ends_at_an_escape() -> None:
    """Only where the delimiter was not quoted."""
    for expands, expected in [(True, "a"), (False, "a\\b")]:
        found = document(expands=expands).plain.match("a\\b\nc")
        assert found is not None
        assert found.group() == expected
