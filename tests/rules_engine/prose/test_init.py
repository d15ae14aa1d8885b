"""What every format keeps to, and all of them together."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.families import ProseFormat
from rules_engine.prose import openings
from tests.support.prose import EXAMPLES, STAND_IN, every_split, split
from tests.support.tool_calls import FAMILIES

PIECES = st.sampled_from(
    [*EXAMPLES.values(), "\n", "\n", "words ", "a.py\n", "```", "<", "```diff\n", "SEARCH", "\r\n"]
)


@pytest.mark.parametrize("format_", ProseFormat)
def test_edit_is_told_with_its_file(format_: ProseFormat) -> None:
    """Scopes can name it, and its old text appears nowhere."""
    read = every_split(f"I edit.\n{EXAMPLES[format_]}\nDone.", format_, path="a.py")
    assert STAND_IN in read.prose
    assert "old" not in read.prose
    assert not any("old" in edit.text for edit in read.edits)
    assert [
        edit.text
        for edit in read.edits
        if edit.paths == ("a.py",) and edit.names & {"edit", "write"}
    ] == ["new"]


@pytest.mark.parametrize("format_", ProseFormat)
def test_text_without_edits_is_prose(format_: ProseFormat) -> None:
    """Nothing opens in ordinary Markdown."""
    text = "Some *words*, `code`, a <b>tag</b>, 1 < 2.\n\n- a list\n> a quote\n\n***\n+ x\n---\n"
    read = every_split(text, format_)
    assert (read.prose, read.edits) == (text, ())


@given(st.lists(PIECES, max_size=6), st.lists(st.integers(1, 40), max_size=30))
def test_cutting_makes_no_difference(pieces: list[str], steps: list[int]) -> None:
    """Whatever is joined, and however it is cut, with every format tried at once."""
    text = "".join(pieces)
    cuts = [cut for cut in accumulate(steps) if cut < len(text)]
    assert split(text, *ProseFormat, cuts=cuts) == split(text, *ProseFormat)


def test_formats_that_nobody_asked_for_open_nothing() -> None:
    """What is not taught is not read."""
    assert openings((), FAMILIES) == ()
