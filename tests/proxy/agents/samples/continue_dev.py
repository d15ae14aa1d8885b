"""What continue sends, and what is to be made of it."""

from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen(declared=("create_new_file", "edit_existing_file")),
        seen(
            system="You are an agent in the Continue CLI.\n<env>\nWorking directory: C:\\w\\p\n",
            declared=("Edit",),
            workspace="C:\\w\\p",
        ),
        # Its tools stay declared.
        seen(
            system="You are an agent in the Continue CLI.",
            declared=("Edit", "Bash"),
            last_user="Please provide a concise summary of our conversation so far, capturing it.",
            side=True,
        ),
        seen(
            {"user-agent": "Continue/1.3"},
            system="TOOL_NAME: edit_existing_file\nBEGIN_ARG: filepath\nEND_ARG",
            formats=frozenset({ProseFormat.ARGUMENT_LINES}),
        ),
    ),
    calls=(
        call("create_new_file", {"filepath": "a.ts", "contents": "x"}, Added("a.ts", "x", "write")),
        call("Write", {"filepath": "a.ts", "content": "x"}, Added("a.ts", "x")),
        call(
            "Edit",
            {"file_path": "a.ts", "old_string": "old", "new_string": "new"},
            Added("a.ts", "new"),
        ),
        call(
            "single_find_and_replace",
            {"filepath": "a.ts", "old_string": "old", "new_string": "new"},
            Added("a.ts", "new", "edit"),
        ),
        call(
            "edit_existing_file",
            {"filepath": "a.ts", "changes": "new"},
            Added("a.ts", "new", "edit"),
        ),
        call(
            "MultiEdit",
            {"file_path": "a.ts", "edits": [{"old_string": "old", "new_string": "new"}]},
            Added("a.ts", "new", "edit"),
        ),
        call("Bash", {"command": "ls"}, Added("", "ls", "shell")),
    ),
)
