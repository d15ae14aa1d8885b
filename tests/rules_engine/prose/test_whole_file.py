from __future__ import annotations

import pytest

from rules_engine.families import ProseFormat
from tests.support.prose import STAND_IN, added, every_split

FORMAT = ProseFormat.WHOLE_FILE


def test_fence_behind_a_path_is_the_file() -> None:
    """It is a write, and an edit as well: the agent has no other way to edit."""
    read = every_split("Here.\n\n**src/a.py:**\n```python\nimport x\n\ny = 1\n```\nDone.", FORMAT)
    assert read.prose == f"Here.\n\n**src/a.py:**\n{STAND_IN}\nDone."
    (edit,) = read.edits
    assert (edit.tool, edit.paths, edit.text) == ("write", ("src/a.py",), "import x\n\ny = 1")
    assert edit.names == {"edit", "write"}


@pytest.mark.parametrize(("begin", "end"), [("````", "````"), ("<source>", "</source>")])
def test_other_fences_keep_three_backticks_as_text(begin: str, end: str) -> None:
    """The agent chooses a fence that does not occur in its files."""
    assert added(f"a.md\n{begin}\n```\nx\n```\n{end}\n", FORMAT) == [("a.md", "```\nx\n```")]


def test_backticks_inside_a_line_do_not_end_the_file() -> None:
    """Only a line that begins with the fence does."""
    assert added("a.md\n```\nsay ``` and\n ``\n```", FORMAT) == [("a.md", "say ``` and\n ``")]


def test_empty_file_ends_at_once() -> None:
    """No text is added, and what follows is prose."""
    read = every_split("a.md\n```\n```\nrest", FORMAT)
    assert read.prose == f"a.md\n{STAND_IN}\nrest"
    assert [edit.text for edit in read.edits] == [""]


def test_shown_command_is_prose() -> None:
    """A fence for a shell is no file, whatever its text looks like; the next fence is one again."""
    text = "Run:\n```bash\nls a.py\n```\nb.py\n```\nx\n```\n"
    read = every_split(text, FORMAT)
    assert read.prose == f"Run:\n```bash\nls a.py\n```\nb.py\n{STAND_IN}\n"
    assert [(edit.paths, edit.text) for edit in read.edits] == [(("b.py",), "x")]


def test_path_may_come_from_elsewhere() -> None:
    """A fence that no path stands before is for the file that the request speaks of."""
    assert added("```\nx\n```", FORMAT, path="given.rs") == [("given.rs", "x")]
    assert added("```src/b.py\nx\n```", FORMAT) == [("src/b.py", "x")]
    assert added("```\nx\n```", FORMAT) == [("", "x")]
