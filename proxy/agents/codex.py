"""Codex CLI: `apply_patch` as free text or as a function, else patches inside shell commands."""

from __future__ import annotations

from proxy.agents import Agent, HeaderMark, Marks
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family

AGENT = Agent(
    name="codex",
    marks=Marks(
        headers=(HeaderMark("x-codex-turn-metadata"), HeaderMark("originator", "^codex")),
        user_agent=(r"\bcodex_(?:exec|cli_rs|vscode)\b",),
        prompt=(r"codex cli\b", r"you are codex\b"),
    ),
    families=(
        ToolFamily(
            ("apply_patch",),
            ("edit", "apply_patch"),
            patches=(
                PatchArgument("input", PatchFormat.ENVELOPE),
                PatchArgument("patch", PatchFormat.ENVELOPE),
                PatchArgument("", PatchFormat.ENVELOPE),
            ),
            freeform=(PatchFormat.ENVELOPE,),
        ),
        shell_family(("shell", "shell_command", "local_shell"), ("command", "command[]")),
        shell_family(("exec_command",), ("cmd",)),
        shell_family(("write_stdin",), ("chars",)),
    ),
    session_headers=("thread-id", "session-id", "x-client-request-id"),
    session_json=(("x-codex-turn-metadata", "thread_id"),),
    sub_agent=(HeaderMark("x-openai-subagent"), HeaderMark("x-codex-parent-thread-id")),
    side_headers=(
        HeaderMark("x-openai-subagent", r"^(?:compact|memory_consolidation)$"),
        HeaderMark(
            "x-codex-turn-metadata", r'"request_kind"\s*:\s*"(?:compaction|memory|prewarm)"'
        ),
    ),
    workspace=(r"<cwd>\s*([^<\r\n]+?)\s*</cwd>",),
)
