"""What cline sends, and what is to be made of it."""

from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen(
            system="You are Cline, a software engineer.\n# Env\nWorking Directory: /w/p\n",
            workspace="/w/p",
        ),
        seen(declared=("editor", "run_commands")),
        seen({"x-title": "Cline", "x-task-id": "1"}, session="1"),
        # Without native tools.
        seen(
            system="You are Cline. Use <write_to_file> with <path> and <content>.",
            formats=frozenset({ProseFormat.ELEMENTS}),
        ),
    ),
    calls=(
        call("editor", {"path": "a.ts", "new_text": "x"}, Added("a.ts", "x", "edit write")),
        call(
            "editor",
            {"path": "a.ts", "old_text": "old", "new_text": "new"},
            Added("a.ts", "new", "edit"),
        ),
        call(
            "editor",
            {"path": "a.ts", "new_text": "new", "insert_line": 3},
            Added("a.ts", "new", "edit"),
        ),
        call(
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            Added("a.rs", "new", "edit"),
        ),
        call(
            "apply_patch",
            "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n",
            Added("a.rs", "new", "edit"),
        ),
        call("run_commands", {"commands": "ls"}, Added("", "ls", "bash shell")),
        call(
            "run_commands",
            {"commands": ["ls", "pwd"]},
            Added("", "ls", "bash shell"),
            Added("", "pwd", "bash shell"),
        ),
        call(
            "run_commands",
            {"commands": [{"command": "ls", "args": ["-l"]}]},
            Added("", "ls", "bash shell"),
            Added("", "-l", "bash shell"),
            Added("", "ls -l", "bash shell"),
        ),
        call("write_to_file", {"path": "a.ts", "content": "x"}, Added("a.ts", "x", "write")),
        call(
            "replace_in_file",
            {"path": "a.ts", "diff": "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE"},
            Added("a.ts", "new", "edit"),
        ),
    ),
)
