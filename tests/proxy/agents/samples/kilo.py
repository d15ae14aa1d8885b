"""What kilo sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen({"x-kilo-session": "s"}, session="s"),
        seen({"user-agent": "Kilo-Code/7"}),
        seen({"x-title": "Kilo Code"}),
        seen(
            {"user-agent": "Kilo-Code/7", "x-session-id": "b", "x-parent-session-id": "a"},
            system="You are Kilo.\n<env>\n  Working directory: /w/p\n</env>",
            role="sub",
            session="b",
            workspace="/w/p",
        ),
        seen({"user-agent": "Kilo-Code/7"}, system="You are a title generator.", side=True),
    ),
    calls=(
        call(
            "edit",
            {"filePath": "a.ts", "oldString": "old", "newString": "new"},
            Added("a.ts", "new"),
        ),
        call("bash", {"command": "ls"}, Added("", "ls", "shell")),
        call("write", {"content": "x", "filePath": "a.ts"}, Added("a.ts", "x")),
    ),
)
