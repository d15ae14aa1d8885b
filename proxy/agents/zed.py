"""Zed: paths begin with the worktree's name; `edits` may come as JSON inside a string."""

from __future__ import annotations

from proxy.agents import Agent, Api, Marks, Setting, SidePrompt, Taught
from rules_engine.families import ProseFormat, ToolFamily, shell_family

AGENT = Agent(
    name="zed",
    title="Zed",
    marks=Marks(
        user_agent=(r"\bzed/",),
        prompt=(r"you are the zed coding agent\b",),
        tools=(
            frozenset({"edit_file", "terminal", "diagnostics"}),
            frozenset({"streaming_edit_file"}),
        ),
    ),
    families=(
        ToolFamily(("write_file",), ("write",), paths=("path",), added=("content",), rooted=True),
        ToolFamily(
            ("edit_file", "streaming_edit_file"),
            ("edit", "write"),
            paths=("path",),
            added=("content",),
            rooted=True,
        ),
        ToolFamily(
            ("edit_file", "streaming_edit_file"),
            ("edit",),
            paths=("path",),
            added=("edits[].new_text", "edits[].newText"),
            removed=("edits[].old_text", "edits[].oldText"),
            rooted=True,
        ),
        shell_family(("terminal",), ("command",), directory=("cd",), rooted=True),
    ),
    # An edit by description: a request of its own, answered in prose, whose prompt has the path.
    prose_formats=(
        Taught(r"\bcontent wrapped in triple backticks\b", (ProseFormat.WHOLE_FILE,)),
        Taught(r"<old_text\b", (ProseFormat.OLD_NEW,)),
        Taught(r"search/replace", (ProseFormat.SEARCH_REPLACE,)),
    ),
    prose_path=(r"<file_(?:path|to_edit)>\s*([^<\r\n]{1,500}?)\s*</file_(?:path|to_edit)>",),
    session_body=("prompt_cache_key",),
    workspace=(
        r"urrent project contains the following root directories:\s*-[ \t]*`?([^`\r\n]+)`?",
    ),
    side_prompts=(
        SidePrompt("title", r"\bword title for this conversation\b"),
        SidePrompt("summary", r"\bdetailed summary of the conversation so far\b"),
    ),
    apis=(Api.CHAT, Api.RESPONSES),
    settings=(
        Setting(
            "json",
            """\
{
  "language_models": {
    "openai_compatible": {
      "ttsr": {
        "api_url": "http://127.0.0.1:8787/v1",
        "available_models": [{ "name": "MODEL", "max_tokens": 128000 }]
      }
    }
  }
}
""",
            where="In `settings.json`",
        ),
    ),
    limits=(
        "It names its thread only to models that are marked for it.",
        "Its sub-agents are not told from their parent: nothing in their requests says so.",
        "With models set to the Responses API it passes through without rules.",
    ),
)
