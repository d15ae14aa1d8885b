from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.prose import STAND_IN, every_split


def test_added_lines_belong_to_the_file_above_them() -> None:
    """Old and context lines are seen by nobody; an added file is written."""
    text = (
        "Do:\n*** Begin Patch\n*** Update File: x.py\n@@ def f\n ctx\n-old\n+new\n"
        "*** Add File: y.py\n+hello\n*** End Patch\nend"
    )
    read = every_split(text, ProseFormat.ENVELOPE)
    assert read.prose == f"Do:\n{STAND_IN}\nend"
    assert [(e.tool, e.paths, e.text, set(e.names)) for e in read.edits] == [
        ("edit", ("x.py",), "new", {"edit"}),
        ("edit", ("y.py",), "hello", {"edit", "write"}),
    ]
