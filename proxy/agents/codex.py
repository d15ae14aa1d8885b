"""Codex CLI: `apply_patch` as free text or as a function, else patches inside shell commands."""

from __future__ import annotations

from proxy.agents import Agent, Api, HeaderMark, Marks, Setting, SidePrompt
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family

AGENT = Agent(
    name="codex",
    title="Codex",
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
        shell_family(
            ("shell", "shell_command", "local_shell"),
            ("command",),
            directory=("workdir",),
            words=("command[]",),
        ),
        shell_family(("exec_command",), ("cmd",), directory=("workdir",)),
        shell_family(("write_stdin",), ("chars",)),
    ),
    session_headers=("thread-id", "session-id", "x-client-request-id"),
    session_json=(("x-codex-turn-metadata", "thread_id"),),
    session_body=("prompt_cache_key",),
    sub_agent=(
        HeaderMark("x-openai-subagent"),
        HeaderMark("x-codex-parent-thread-id"),
        HeaderMark("x-codex-turn-metadata", r'"(?:parent_thread_id|subagent_kind)"\s*:\s*"'),
    ),
    side_headers=(
        HeaderMark("x-openai-subagent", r"^(?:compact|memory_consolidation)$"),
        HeaderMark(
            "x-codex-turn-metadata", r'"request_kind"\s*:\s*"(?:compaction|memory|prewarm)"'
        ),
    ),
    side_prompts=(SidePrompt("compaction", r"\bcontext checkpoint compaction\b"),),
    workspace=(r"<cwd>\s*([^<\r\n]+?)\s*</cwd>",),
    workspace_json=(("x-codex-turn-metadata", "workspaces"),),
    apis=(Api.RESPONSES,),
    settings=(
        Setting(
            "toml",
            """\
model = "MODEL"
model_provider = "ttsr"

[model_providers.ttsr]
name = "ttsr"
base_url = "http://127.0.0.1:8787/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
""",
            where="In `~/.codex/config.toml`",
        ),
    ),
    limits=(
        ("It speaks the Responses API only, which passes through without rules in this release."),
        "With `openai_base_url` instead it asks for a WebSocket first, and falls back.",
        "In code mode its input is a program: what that writes is not taken apart.",
    ),
)
