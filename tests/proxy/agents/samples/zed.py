"""What zed sends, and what is to be made of it."""

from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen({"user-agent": "Zed/0.220 (linux; x86_64)"}),
        seen(declared=("edit_file", "terminal", "diagnostics")),
        # A new file is asked for in a request of its own, whose answer is the file in a fence.
        seen(
            {"user-agent": "Zed/0.220 (linux; x86_64)"},
            last_user=(
                "You MUST respond with the file's content wrapped in triple backticks (```).\n"
                "<file_path>\napp/a.rs\n</file_path>"
            ),
            formats=frozenset({ProseFormat.WHOLE_FILE}),
            path="app/a.rs",
        ),
    ),
    calls=(
        call(
            "write_file",
            {"path": "root/a.rs", "content": "x"},
            Added("root/a.rs a.rs", "x", "write"),
        ),
        call("write_file", {"path": "/w/a.rs", "content": "x"}, Added("/w/a.rs", "x", "write")),
        call(
            "edit_file",
            {"display_description": "why", "path": "root/a.rs", "mode": "write", "content": "x"},
            Added("root/a.rs a.rs", "x", "edit write"),
        ),
        call(
            "edit_file",
            {"path": "root/a.rs", "edits": [{"old_text": "old", "new_text": "new"}]},
            Added("root/a.rs a.rs", "new", "edit"),
        ),
        call(
            "edit_file",
            {"path": "root/a.rs", "edits": '[{"old_text": "old", "new_text": "new"}]'},
            Added("root/a.rs a.rs", "new", "edit"),
        ),
        call("terminal", {"command": "ls", "cd": "root"}, Added("", "ls", "bash shell")),
    ),
)
