from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.prose import STAND_IN, added, every_split

FORMAT = ProseFormat.ARGUMENT_LINES


def test_marked_lines_are_the_arguments_of_the_call() -> None:
    """A fence inside an argument is part of it."""
    text = (
        "t\n```tool\nTOOL_NAME: create_new_file\nBEGIN_ARG: filepath\nb.py\nEND_ARG\n"
        "BEGIN_ARG: contents\nx = 1\n```\ny\nEND_ARG\n```\nz"
    )
    read = every_split(text, FORMAT)
    assert read.prose == f"t\n```tool\n{STAND_IN}\nz"
    (edit,) = read.edits
    assert (edit.tool, edit.paths, edit.text) == ("create_new_file", ("b.py",), "x = 1\n```\ny")


def test_list_of_edits_is_read_as_json() -> None:
    """An argument that holds a structure is written as JSON."""
    text = (
        "TOOL_NAME: multi_edit\nBEGIN_ARG: filepath\na.py\nEND_ARG\nBEGIN_ARG: edits\n"
        '[{"old_string":"o","new_string":"n"}]\nEND_ARG\n```'
    )
    assert added(text, FORMAT) == [("a.py", "n")]


def test_argument_may_be_empty() -> None:
    """Its end stands on the very next line."""
    text = (
        "TOOL_NAME: create_new_file\nBEGIN_ARG: contents\nEND_ARG\nBEGIN_ARG: filepath\na.py\n"
        "END_ARG\n```\nplain"
    )
    assert every_split(text, FORMAT).prose == f"{STAND_IN}\nplain"
