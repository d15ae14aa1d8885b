"""What codex sends, and what is to be made of it."""

from __future__ import annotations

from tests.support.samples import Added, Samples, call, raw_call, seen

SAMPLES = Samples(
    requests=(
        seen({"originator": "codex_exec"}),
        seen({"user-agent": "codex_cli_rs/0.171.0"}),
        seen(system="You are a coding agent running in the Codex CLI."),
        seen(
            {
                "originator": "codex_exec",
                "session-id": "s",
                "x-codex-turn-metadata": (
                    '{"session_id": "s", "thread_id": "t", "request_kind": "turn",'
                    ' "workspaces": {"/w/p": {"branch": "main"}}}'
                ),
            },
            session="t",
            workspace="/w/p",
        ),
        seen(
            {"originator": "codex_exec", "x-codex-turn-metadata": '{"parent_thread_id": "t"}'},
            role="sub",
        ),
        seen({"originator": "codex_exec", "x-openai-subagent": "review"}, role="sub"),
        seen({"originator": "codex_exec", "x-openai-subagent": "compact"}, role="sub", side=True),
        seen(
            {"originator": "codex_exec", "x-codex-turn-metadata": '{"request_kind":"prewarm"}'},
            side=True,
        ),
        seen(
            {"originator": "codex_exec"},
            last_user="You are performing a CONTEXT CHECKPOINT COMPACTION.",
            side=True,
        ),
        seen(
            {"originator": "codex_exec", "x-client-request-id": "t"},
            first_user="<environment_context>\n<cwd>/w/p</cwd>\n</environment_context>",
            hints=(("prompt_cache_key", "t"),),
            session="t",
            workspace="/w/p",
        ),
        seen(
            {"originator": "codex_exec"},
            first_user="any",
            hints=(("prompt_cache_key", "t"),),
            session="t",
        ),
    ),
    calls=(
        call(
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            Added("a.rs", "new", "edit"),
        ),
        call(
            "shell",
            {
                "command": [
                    "apply_patch",
                    "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n",
                ],
                "workdir": "/w",
            },
            Added("", "apply_patch", "bash"),
            Added(
                "", "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n", "bash"
            ),
            Added("/w/a.rs", "new", "edit"),
        ),
        call("exec_command", {"cmd": "ls"}, Added("", "ls", "bash shell")),
        call("write_stdin", {"session_id": 1, "chars": "y"}, Added("", "y", "bash shell")),
        raw_call(
            "apply_patch",
            "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n",
            Added("a.rs", "new", "edit"),
        ),
    ),
)
