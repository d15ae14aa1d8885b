from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.prose import STAND_IN, every_split


def test_parameters_are_the_arguments_of_the_call() -> None:
    """The tool's family says which of them are source."""
    text = (
        "t\n<function=str_replace_editor>\n<parameter=command>create</parameter>\n"
        "<parameter=path>/w/a.py</parameter>\n<parameter=file_text>\nimport a\n\nb\n</parameter>\n"
        "</function>x"
    )
    read = every_split(text, ProseFormat.FUNCTIONS)
    assert read.prose == f"t\n{STAND_IN}x"
    (edit,) = read.edits
    assert (edit.tool, edit.paths, edit.text) == (
        "str_replace_editor",
        ("/w/a.py",),
        "import a\n\nb",
    )
    assert {"edit", "write"} <= edit.names
