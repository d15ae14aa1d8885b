"""What goose sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen({"agent-session-id": "s"}, session="s"),
        seen({"goose-session-id": "s"}, session="s"),
        seen({"x-goose-session-id": "s"}, session="s"),
        seen(system="You are a general-purpose AI agent called goose."),
        seen(
            {"agent-session-id": "s"},
            system="You are a specialized subagent within the goose AI framework.",
            declared=("shell",),
            role="sub",
            session="s",
        ),
        *(
            seen({"agent-session-id": "s"}, session="s", side=True, system=system)
            for system in (
                "Generate a short title (four words or less) for this conversation.",
                "Provide a concise description of this session in four words or less.",
                "The messages above are a conversation to summarize. Create a checkpoint.",
            )
        ),
    ),
    calls=(
        call("write", {"path": "a.py", "content": "x"}, Added("a.py", "x")),
        call("edit", {"path": "a.py", "before": "old", "after": "new"}, Added("a.py", "new")),
        call(
            "text_editor",
            {"command": "write", "path": "a.py", "file_text": "x"},
            Added("a.py", "x", "edit write"),
        ),
        call(
            "text_editor",
            {"command": "str_replace", "path": "a.py", "old_str": "old", "new_str": "new"},
            Added("a.py", "new", "edit"),
        ),
        call("shell", {"command": "ls"}, Added("", "ls", "bash")),
    ),
)
