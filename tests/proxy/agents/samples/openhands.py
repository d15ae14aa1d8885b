"""What openhands sends, and what is to be made of it."""

from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen(
            {"x-litellm-session-id": "c"},
            system="You are OpenHands agent.",
            hints=(("prompt_cache_key", "c"),),
            session="c",
        ),
        seen(
            declared=("file_editor", "terminal"),
            first_user="any",
            hints=(("prompt_cache_key", "c"),),
            session="c",
        ),
        seen(
            {"x-litellm-session-id": "c"},
            system="You are maintaining a context-aware state summary for an interactive agent.",
            session="c",
            side=True,
        ),
        seen(
            system="You are OpenHands agent. Call tools so: <function=example>",
            formats=frozenset({ProseFormat.FUNCTIONS}),
        ),
    ),
    calls=(
        call(
            "write_file", {"file_path": "/w/a.py", "content": "x"}, Added("/w/a.py", "x", "write")
        ),
        call(
            "edit",
            {"file_path": "/w/a.py", "old_string": "old", "new_string": "new"},
            Added("/w/a.py", "new"),
        ),
        call(
            "file_editor",
            {"command": "create", "path": "/w/a.py", "file_text": "x"},
            Added("/w/a.py", "x", "edit write"),
        ),
        call(
            "str_replace_editor",
            {"command": "str_replace", "path": "/w/a.py", "old_str": "old", "new_str": "new"},
            Added("/w/a.py", "new", "edit"),
        ),
        call(
            "file_editor",
            {"command": "insert", "path": "/w/a.py", "insert_line": 3, "new_str": "new"},
            Added("/w/a.py", "new", "edit"),
        ),
        call(
            "file_editor",
            {"command": "view", "path": "/w/a.py"},
            Added("/w/a.py", "view"),
            Added("/w/a.py", "/w/a.py"),
        ),
        call(
            "apply_patch",
            {"patch": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            Added("a.rs", "new", "edit"),
        ),
        call("terminal", {"command": "ls"}, Added("", "ls", "bash shell")),
    ),
)
