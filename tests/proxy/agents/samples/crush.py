"""What crush sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen(
            {"x-session-id": "5f", "x-session-affinity": "5f"},
            system="You are Crush, a terminal agent.\n<env>\nWorking directory: /w/p\n</env>",
            session="5f",
            workspace="/w/p",
        ),
        seen(declared=("multiedit", "view", "bash", "write")),
        seen(
            system="You are an agent for Crush. Given the user's prompt, answer.",
            declared=("glob", "view"),
            role="sub",
        ),
        seen(
            {"user-agent": "Charm-Fantasy/0.9"},
            system="The conversation context above needs to be compacted. Summarize it.",
            side=True,
        ),
        seen(
            {"user-agent": "Charm-Fantasy/0.9"},
            system="You will generate a short title based on the first message of the user.",
            side=True,
        ),
    ),
    calls=(
        call("write", {"file_path": "a.go", "content": "x"}, Added("a.go", "x")),
        call(
            "edit",
            {"file_path": "a.go", "old_string": "old", "new_string": "new"},
            Added("a.go", "new"),
        ),
        call(
            "multiedit",
            {
                "file_path": "a.go",
                "edits": [
                    {"old_string": "old", "new_string": "1"},
                    {"old_string": "", "new_string": "2"},
                ],
            },
            Added("a.go", "1", "edit"),
            Added("a.go", "2", "edit"),
        ),
        call(
            "bash",
            {"command": "cat > a.go <<EOF\nx\nEOF\n", "working_dir": "/w"},
            Added("", "cat > a.go <<EOF\nx\nEOF\n", "shell"),
            Added("/w/a.go", "x", "write"),
        ),
    ),
)
