"""oh-my-pi: one `edit` tool with several argument shapes, by mode."""

from __future__ import annotations

from proxy.agents import Agent, Api, Marks, Setting, SidePrompt
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily, shell_family

AGENT = Agent(
    name="oh-my-pi",
    title="oh-my-pi",
    marks=Marks(
        user_agent=(r"oh-my-pi", r"\bomp/"),
        prompt=(r"oh[- ]my[- ]pi\b",),
        tools=(frozenset({"ast_edit", "edit"}),),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("path",), added=("content",)),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("path",),
            added=("new_string",),
            removed=("old_string",),
        ),
        # Patch mode: whole text for a new file, else a diff of which only `+` lines are new.
        ToolFamily(
            ("edit",),
            ("edit", "write"),
            paths=("path",),
            added=("edits[].diff",),
            renamed=("edits[].rename",),
            where=(("edits[].op", ("create",)),),
        ),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("path",),
            patches=(PatchArgument("edits[].diff", PatchFormat.HUNKS),),
            renamed=("edits[].rename",),
            unless=(("edits[].op", ("create",)),),
        ),
        ToolFamily(
            ("edit", "apply_patch"),
            ("edit",),
            patches=(
                PatchArgument("input", PatchFormat.ENVELOPE),
                PatchArgument("input", PatchFormat.HASHLINE),
                PatchArgument("", PatchFormat.ENVELOPE),
                PatchArgument("", PatchFormat.HASHLINE),
            ),
            freeform=(PatchFormat.ENVELOPE, PatchFormat.HASHLINE),
        ),
        ToolFamily(
            ("ast_edit",),
            ("edit",),
            paths=("paths[]", "paths", "path"),
            added=("ops[].out",),
            removed=("ops[].pat",),
        ),
        shell_family(("bash",), ("command",), directory=("cwd",)),
    ),
    session_headers=("session_id", "x-client-request-id"),
    workspace=(
        r"urrent working directory(?:\s*:| is)\s*['\"`]?((?:/|~|[A-Za-z]:[\\/])[^'\"`<>\r\n]*)",
    ),
    session_body=("prompt_cache_key",),
    sub_prompts=(r"assigned by your direct parent agent\b",),
    side_prompts=(
        SidePrompt("title", r"\bword title using only the task\b"),
        SidePrompt("compaction", r"\bconversation to summari[sz]e\b"),
    ),
    apis=(Api.CHAT, Api.RESPONSES),
    settings=(
        Setting(
            "yaml",
            """\
providers:
  ttsr:
    baseUrl: http://127.0.0.1:8787/v1
    apiKey: OPENAI_API_KEY
    api: openai-completions
    models:
      - id: MODEL
""",
            where="In `~/.omp/agent/models.yml`",
        ),
        Setting(
            "yaml",
            """\
ttsr:
  enabled: false
""",
            where="It has rules of its own kind: switch them off there, or both act",
        ),
    ),
    limits=(
        "On chat completions it names its session only to a provider called `openai`.",
        "The many tool syntaxes that it has for models without tool calling are text.",
        "With `api: openai-responses` it passes through without rules.",
    ),
)
