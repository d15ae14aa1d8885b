from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.prose import STAND_IN, added, every_split

FORMAT = ProseFormat.UNIFIED
HEADER = "--- a/x.py\n+++ b/x.py\n"


def test_only_added_lines_are_read() -> None:
    """Each hunk is an edit of the file that the header names."""
    text = f"Do:\n```diff\n{HEADER}@@ -1 +1 @@\n ctx\n-old\n+new\n@@ ... @@\n+two\n```\nend"
    read = every_split(text, FORMAT)
    assert read.prose == f"Do:\n{STAND_IN}\nend"
    assert [(e.tool, e.paths, e.text) for e in read.edits] == [
        ("edit", ("x.py",), "new"),
        ("edit", ("x.py",), "two"),
    ]


def test_new_file_is_written() -> None:
    """A diff against nothing makes the file."""
    (edit,) = every_split("```diff\n--- /dev/null\n+++ b/y.py\n@@ @@\n+new\n```", FORMAT).edits
    assert (edit.paths, edit.names) == (("y.py",), {"edit", "write"})


def test_diff_without_header_is_for_the_file_before_it() -> None:
    """Models leave the header out when they go on with a file."""
    text = f"```diff\n{HEADER}@@ @@\n+one\n```\n```diff\n@@ @@\n+two\n```"
    assert added(text, FORMAT) == [("x.py", "one"), ("x.py", "two")]


def test_other_fences_are_prose() -> None:
    """A fence that is not tagged so is only shown."""
    text = "```python\n+x\n```\n say ```diff\n"
    assert every_split(text, FORMAT).prose == text
