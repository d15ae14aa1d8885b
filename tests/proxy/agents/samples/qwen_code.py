"""What qwen-code sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, seen

QWEN = {"user-agent": "QwenCode/0.15.10 (linux; x64)"}

SAMPLES = Samples(
    requests=(
        seen(QWEN),
        seen(system="You are Qwen Code, an agent."),
        seen(
            QWEN,
            first_user="I'm currently working in the directory: /w/p\nHere is the folder",
            hints=(("metadata.sessionId", "m"),),
            session="m",
            workspace="/w/p",
        ),
        seen(
            QWEN,
            first_user="I'm currently working in the following directories:\n  - /w/p\n  - /w/q",
            workspace="/w/p",
        ),
        # What it asks beside the conversation declares no tools and has prompts of its own.
        *(
            seen(QWEN, system=system, side=True)
            for system in (
                "You are the component that summarizes internal chat history into a structure.",
                "You are a specialized context summarizer that creates a summary.",
                "You generate session recaps for a programming assistant CLI.",
                "Write a short summary label describing what these tool calls accomplished.",
            )
        ),
        seen(QWEN, system="You generate session recaps.", declared=("edit",)),
    ),
    calls=(
        call(
            "write_file", {"file_path": "/w/a.py", "content": "x"}, Added("/w/a.py", "x", "write")
        ),
        call(
            "edit",
            {"file_path": "/w/a.py", "old_string": "old", "new_string": "new"},
            Added("/w/a.py", "new"),
        ),
        call(
            "replace",
            {
                "file_path": "/w/a.py",
                "old_string": "old",
                "new_string": "new",
                "instruction": "why",
            },
            Added("/w/a.py", "new", "edit"),
        ),
        call(
            "run_shell_command", {"command": "ls", "directory": "."}, Added("", "ls", "bash shell")
        ),
    ),
)
