"""What opencode sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

SAMPLES = Samples(
    requests=(
        seen({"user-agent": "opencode/1.18.33 ai-sdk/2"}),
        seen({"x-opencode-session": "ses_1"}, session="ses_1"),
        seen(
            {"x-session-id": "ses_2", "x-parent-session-id": "ses_1", "user-agent": "opencode/1"},
            declared=("edit", "bash"),
            role="sub",
            session="ses_2",
        ),
        seen(
            system="You are opencode.\n<env>\n  Working directory: /home/u/p\n</env>",
            workspace="/home/u/p",
        ),
        # The title has the session of the conversation.
        seen(
            {"x-session-affinity": "ses_1", "user-agent": "opencode/1"},
            system="You are a title generator. You output ONLY a thread title.",
            last_user="Generate a title for this conversation:\n",
            session="ses_1",
            side=True,
        ),
        seen(
            {"user-agent": "opencode/1"},
            system="You are a helpful AI assistant tasked with summarizing conversations.",
            side=True,
        ),
    ),
    calls=(
        call("write", {"content": "x", "filePath": "/w/a.ts"}, Added("/w/a.ts", "x")),
        call(
            "edit",
            {"filePath": "/w/a.ts", "oldString": "old", "newString": "new", "replaceAll": True},
            Added("/w/a.ts", "new"),
        ),
        call(
            "multiedit",
            {"filePath": "/w/a.ts", "edits": [{"oldString": "old", "newString": "new"}]},
            Added("/w/a.ts", "new", "edit"),
        ),
        call(
            "apply_patch",
            {"patchText": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            Added("a.rs", "new", "edit"),
        ),
        call(
            "bash",
            {"command": "ls", "description": "list", "workdir": "/w"},
            Added("", "ls", "shell"),
        ),
    ),
)
