"""What pi sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen(
            system=(
                "You are a coding assistant operating inside pi.\n"
                "Current working directory: /w/my p\n"
            ),
            workspace="/w/my p",
        ),
        seen({"user-agent": "pi-coding-agent/1"}, hints=(("prompt_cache_key", "k"),), session="k"),
        seen(
            {"user-agent": "pi-coding-agent/1"},
            system="You are a context summarization assistant.",
            side=True,
        ),
    ),
    calls=(
        call("bash", {"command": "ls", "timeout": 5}, Added("", "ls", "shell")),
        call("write", {"path": "a.ts", "content": "x"}, Added("a.ts", "x")),
        call("edit", {"path": "a.ts", "oldText": "old", "newText": "new"}, Added("a.ts", "new")),
        call(
            "edit",
            {"path": "a.ts", "edits": [{"oldText": "old", "newText": "new"}]},
            Added("a.ts", "new"),
        ),
    ),
)
