"""What zed sends, and what is to be made of it."""

from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.samples import Added, Samples, call, seen

ZED = {"user-agent": "Zed/0.220 (linux; x86_64)"}

SAMPLES = Samples(
    requests=(
        seen(ZED),
        seen(declared=("edit_file", "terminal", "diagnostics")),
        seen(
            system=(
                "You are the Zed coding agent running inside the Zed editor.\n"
                "The current project contains the following root directories:\n\n- `/w/app`\n"
            ),
            declared=("edit_file",),
            first_user="any",
            hints=(("prompt_cache_key", "thread"),),
            session="thread",
            workspace="/w/app",
        ),
        seen(
            ZED,
            last_user="Generate a concise 3-7 word title for this conversation.",
            side=True,
        ),
        # Edits by description are asked for in requests of their own. The tools stay declared.
        seen(
            ZED,
            declared=("edit_file", "terminal"),
            tools_off=True,
            last_user=(
                "You MUST respond with a series of edits, using the following format:\n"
                "<<<<<<< SEARCH line=1\na\n=======\nb\n>>>>>>> REPLACE\nUse the SEARCH/REPLACE "
                "diff format.\n<file_to_edit>\napp/a.rs\n</file_to_edit>"
            ),
            formats=frozenset({ProseFormat.SEARCH_REPLACE}),
            path="app/a.rs",
        ),
        seen(
            ZED,
            declared=("edit_file", "terminal"),
            tools_off=True,
            last_user=(
                "Use <old_text line=1> and <new_text>.\n<file_to_edit>\napp/a.rs\n</file_to_edit>"
            ),
            formats=frozenset({ProseFormat.OLD_NEW}),
            path="app/a.rs",
        ),
        seen(
            ZED,
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
