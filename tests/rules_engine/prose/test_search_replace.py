from __future__ import annotations

import pytest

from rules_engine.families import ProseFormat
from tests.support.prose import STAND_IN, added, every_split

FORMAT = ProseFormat.SEARCH_REPLACE


def block(old: str, new: str) -> str:
    """The arguments are lines, parted by bars."""
    lines = ["<<<<<<< SEARCH", *_lines(old), "=======", *_lines(new), ">>>>>>> REPLACE", ""]
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    return text.split("|") if text else []


def test_only_the_new_text_is_added() -> None:
    """Old text is seen by nobody, and what surrounds the block is prose."""
    text = f"I edit.\n\nsrc/a.py\n```python\n{block('old', 'new||    y >= 3')}```\nDone."
    read = every_split(text, FORMAT)
    assert read.prose == f"I edit.\n\nsrc/a.py\n```python\n{STAND_IN}\n```\nDone."
    (edit,) = read.edits
    assert (edit.tool, edit.paths, edit.text) == ("edit", ("src/a.py",), "new\n\n    y >= 3")
    assert edit.names == {"edit"}


def test_block_without_old_text_makes_the_file() -> None:
    """A divider right behind the first mark: the block is a write as well as an edit."""
    (edit,) = every_split(f"a.py\n```\n{block('', 'all')}```", FORMAT).edits
    assert edit.names == {"edit", "write"}
    (edit,) = every_split(f"a.py\n```\n{block(' ', 'all')}```", FORMAT).edits
    assert edit.names == {"edit"}


def test_later_block_is_for_the_same_file_unless_it_says_otherwise() -> None:
    """A block that no path stands before belongs to the file of the block before it."""
    text = f"a.py\n```\n{block('1', '2')}{block('3', '4')}```\n"
    text += f"And:\n```\n{block('5', '6')}```\n"
    assert added(text, FORMAT) == [("a.py", "2"), ("a.py", "4"), ("a.py", "6")]
    text += f"b.py\n```\n{block('7', '8')}```"
    assert added(text, FORMAT)[-1] == ("b.py", "8")


def test_path_may_stand_inside_the_fence() -> None:
    """The fenced variant puts the path between fence and block."""
    assert added(f"```python\nsrc/a.py\n{block('o', 'n')}```", FORMAT) == [("src/a.py", "n")]


@pytest.mark.parametrize("signs", [5, 7, 9])
def test_marks_have_five_to_nine_signs(signs: int) -> None:
    """Models miscount, and the agents that read them allow for it."""
    text = f"a.py\n{'<' * signs} SEARCH\no\n{'=' * signs}\nn\n{'>' * signs} REPLACE\n"
    assert added(text, FORMAT) == [("a.py", "n")]


def test_marks_may_be_indented_and_number_a_line() -> None:
    """An editing agent adds the line; another one strips the marks."""
    text = "a.py\n  <<<<<<< SEARCH line=12\n  o\n  =======\n  n\n  >>>>>>> REPLACE\n"
    assert added(text, FORMAT) == [("a.py", "  n")]


def test_block_that_never_ends_is_read_to_the_end() -> None:
    """What was added so far counts."""
    assert added("a.py\n<<<<<<< SEARCH\no\n=======\nn\n>>>>", FORMAT) == [("a.py", "n\n>>>>")]


def test_what_only_looks_like_a_mark_is_prose() -> None:
    """A mark fills its line."""
    text = "see <<<<<<< SEARCH\n<<<<<<< SEARCH it\n<<<< SEARCH\n<<<<<<"
    assert every_split(text, FORMAT).prose == text
