"""OpenHands: one editor tool whose `command` says what it does."""

from __future__ import annotations

from proxy.agents import Agent, Api, Marks, Setting, SidePrompt, Taught
from rules_engine.families import PatchArgument, PatchFormat, ProseFormat, ToolFamily, shell_family

AGENT = Agent(
    name="openhands",
    title="OpenHands",
    marks=Marks(
        prompt=(r"you are openhands\b", r"context-aware state summary for an interactive agent\b"),
        tools=(frozenset({"file_editor", "terminal"}),),
    ),
    families=(
        ToolFamily(
            ("str_replace_editor", "file_editor"),
            ("edit", "write"),
            paths=("path",),
            added=("file_text",),
            where=(("command", ("create",)),),
        ),
        ToolFamily(
            ("str_replace_editor", "file_editor"),
            ("edit",),
            paths=("path",),
            added=("new_str",),
            removed=("old_str",),
            where=(("command", ("str_replace", "insert")),),
        ),
        # Its preset for Gemini.
        ToolFamily(("write_file",), ("write",), paths=("file_path",), added=("content",)),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("file_path",),
            added=("new_string",),
            removed=("old_string",),
        ),
        ToolFamily(
            ("apply_patch",),
            ("edit", "apply_patch"),
            patches=(PatchArgument("patch", PatchFormat.ENVELOPE),),
        ),
        shell_family(("terminal", "execute_bash"), ("command",)),
    ),
    session_headers=("x-litellm-session-id",),
    session_body=("prompt_cache_key",),
    side_prompts=(SidePrompt("compaction", r"\bcontext-aware state summary\b"),),
    prose_formats=(Taught(r"<function=", (ProseFormat.FUNCTIONS,)),),
    apis=(Api.CHAT, Api.RESPONSES),
    settings=(
        Setting(
            "sh",
            """\
export LLM_MODEL=openai/MODEL LLM_BASE_URL=http://127.0.0.1:8787/v1 LLM_API_KEY=…
openhands --override-with-envs
""",
        ),
    ),
    limits=(
        "It names its directory only in what it says of a tool, which is not read.",
        "Sub-agents are not told from their parent: nothing in their requests says so.",
        "Some models make it speak the Responses API, which passes through without rules.",
    ),
)
