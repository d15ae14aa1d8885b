"""What crush sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen(system="You are Crush, a terminal agent."),
        seen(declared=("multiedit", "view", "bash", "write")),
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
            Added("a.go", "x", "write"),
        ),
    ),
)
