"""What roo sends, and what is to be made of it."""

from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen({"user-agent": "RooCode/3"}),
        seen({"x-roo-task-id": "1"}, session="1"),
        seen(
            system="You are Roo, an engineer.\nCurrent Workspace Directory: /w/p\n",
            workspace="/w/p",
        ),
        seen(
            declared=("apply_diff", "write_to_file"),
            first_user="# Current Workspace Directory (/w/p) Files\na.ts\n",
            workspace="/w/p",
        ),
        # Newer versions leave the tools declared.
        seen(
            {"user-agent": "RooCode/3"},
            system="You are a helpful AI assistant tasked with summarizing conversations.",
            declared=("apply_diff",),
            side=True,
        ),
        seen(
            {"user-agent": "RooCode/3"},
            system="Your task is to create a detailed summary of the conversation so far.",
            side=True,
        ),
        seen(
            system="You are Roo. Use <apply_diff> with <path> and <diff>.",
            formats=frozenset({ProseFormat.ELEMENTS}),
        ),
    ),
    calls=(
        call("write_to_file", {"path": "a.ts", "content": "x"}, Added("a.ts", "x", "write")),
        call(
            "apply_diff",
            {
                "path": "a.ts",
                "diff": "<<<<<<< SEARCH\n:start_line:1\nold\n=======\nnew\n>>>>>>> REPLACE",
            },
            Added("a.ts", "new", "edit"),
        ),
        call(
            "search_replace",
            {"file_path": "a.ts", "old_string": "old", "new_string": "new"},
            Added("a.ts", "new", "edit"),
        ),
        call(
            "apply_patch",
            {"patch": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            Added("a.rs", "new", "edit"),
        ),
        call("execute_command", {"command": "ls", "cwd": "/w"}, Added("", "ls", "bash shell")),
    ),
)
