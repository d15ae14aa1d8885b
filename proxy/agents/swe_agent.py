"""SWE-agent: the editor tool, or a window on a file that an earlier call opened."""

from __future__ import annotations

from proxy.agents import Agent, Marks, Setting
from rules_engine.families import ToolFamily, shell_family

AGENT = Agent(
    name="swe-agent",
    title="SWE-agent",
    marks=Marks(
        prompt=(r"autonomous programmer\b",),
        tools=(
            frozenset({"str_replace_editor", "submit", "bash"}),
            frozenset({"open", "goto", "edit"}),
        ),
    ),
    families=(
        ToolFamily(
            ("str_replace_editor",),
            ("edit", "write"),
            paths=("path",),
            added=("file_text",),
            where=(("command", ("create",)),),
        ),
        ToolFamily(
            ("str_replace_editor",),
            ("edit",),
            paths=("path",),
            added=("new_str",),
            removed=("old_str",),
            where=(("command", ("str_replace", "insert")),),
        ),
        # The windowed tools name no file.
        ToolFamily(("edit",), ("edit",), added=("replace",), removed=("search",)),
        ToolFamily(("edit",), ("edit",), added=("replacement_text",)),
        ToolFamily(("insert",), ("edit",), added=("text",)),
        shell_family(("bash",), ("command",)),
    ),
    settings=(
        Setting(
            "sh",
            """\
sweagent run --agent.model.name=openai/MODEL \\
  --agent.model.api_base=http://127.0.0.1:8787/v1 …
""",
        ),
    ),
    limits=(
        (
            "Its windowed tools name no file, and which one an earlier call opened is not "
            "remembered: a scope with a glob does not hold for them, `tool:edit` does."
        ),
        (
            "Commands in the text (`thought_action` and other parsers) are text: only "
            "mini-swe-agent's are read."
        ),
    ),
)
