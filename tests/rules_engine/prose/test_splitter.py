from __future__ import annotations

import time

import pytest

from rules_engine.families import ProseFormat
from rules_engine.prose import Splitter, openings
from rules_engine.prose.splitter import LONGEST_LINE
from tests.support.prose import split
from tests.support.tool_calls import FAMILIES

ALL = tuple(ProseFormat)


def test_prose_is_passed_on_as_it_comes() -> None:
    """Only a line that may yet open a block waits, and then no longer than it may."""
    splitter = Splitter(openings(ALL, FAMILIES))
    assert [part.text for part in splitter.feed("so")] == ["so"]  # type: ignore[union-attr]
    assert [part.text for part in splitter.feed(" it\n``")] == [" it\n"]  # type: ignore[union-attr]
    assert [part.text for part in splitter.feed("x")] == ["``x"]  # type: ignore[union-attr]
    assert list(splitter.close()) == []


def test_long_line_opens_nothing() -> None:
    """Lines that open blocks are short, so that nothing waits without a bound."""
    text = "```" + "x" * LONGEST_LINE
    assert split(text, *ALL, cuts=range(1, len(text))).prose == text


@pytest.mark.parametrize(
    "text",
    [
        "`" * 40_000,
        "<" * 40_000,
        "<write_to_file><content>" + "</conten" * 5_000,
        "a.py\n<<<<<<< SEARCH\n=======\n" + ">>>>>>\n" * 6_000,
        "```bash\n" + "\n``" * 13_000,
        " " * 40_000,
        "TOOL_NAME: x\nBEGIN_ARG: y\n" + "\r" * 40_000,
    ],
)
def test_time_grows_with_the_text_alone(text: str) -> None:
    """Neither marks that never come about nor tiny pieces make it slow."""
    begun = time.thread_time()
    whole = split(text, *ALL)
    assert split(text, *ALL, cuts=range(7, len(text), 7)) == whole
    assert time.thread_time() - begun < 5
