"""What deepseek-harness sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen({"user-agent": "deepseek-harness/1"}),
        seen({"x-deepseek-harness-session-id": "s"}, declared=("bash",), session="s"),
        # A compaction has the tools of the conversation.
        seen(
            {"x-deepseek-harness-session-id": "s", "x-deepseek-harness-compact": "1"},
            declared=("bash",),
            session="s",
            side=True,
        ),
    ),
    calls=(
        call("write", {"file_path": "a.ts", "content": "x"}, Added("a.ts", "x")),
        call(
            "edit",
            {"file_path": "a.ts", "old_string": "old", "new_string": "new"},
            Added("a.ts", "new"),
        ),
        call(
            "multi_edit",
            {"file_path": "a.ts", "edits": [{"old_string": "old", "new_string": "new"}]},
            Added("a.ts", "new", "edit"),
        ),
        call("bash", {"command": "ls", "workdir": "/w"}, Added("", "ls", "shell")),
    ),
)
