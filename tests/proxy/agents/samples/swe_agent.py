"""What swe-agent sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen(declared=("str_replace_editor", "submit", "bash")),
        seen(system="SETTING: You are an autonomous programmer."),
    ),
    calls=(
        call(
            "str_replace_editor",
            {"command": "create", "path": "/w/a.py", "file_text": "x"},
            Added("/w/a.py", "x", "edit write"),
        ),
        call(
            "str_replace_editor",
            {"command": "insert", "path": "/w/a.py", "insert_line": 3, "new_str": "new"},
            Added("/w/a.py", "new", "edit"),
        ),
        call("edit", {"search": "old", "replace": "new"}, Added("", "new")),
        call("edit", {"start_line": 1, "end_line": 2, "replacement_text": "new"}, Added("", "new")),
        call("insert", {"text": "new"}, Added("", "new", "edit")),
        call("bash", {"command": "ls"}, Added("", "ls", "shell")),
    ),
)
