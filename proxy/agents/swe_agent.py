"""SWE-agent: the editor tool, or a window on a file that an earlier call opened."""

from __future__ import annotations

from proxy.agents import Agent, Marks, Setting
from rules_engine.families import ToolFamily, shell_family

_OPENERS = (("open", "path"), ("create", "filename"))

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
        # The windowed tools name no file: it is the open one.
        ToolFamily(
            ("edit",), ("edit",), added=("replace",), removed=("search",), opened_by=_OPENERS
        ),
        ToolFamily(("edit",), ("edit",), added=("replacement_text",), opened_by=_OPENERS),
        ToolFamily(("insert",), ("edit",), added=("text",), opened_by=_OPENERS),
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
            "Its windowed tools name no file: it is the one that the last `open` or `create` "
            "named, if that call still stands in the conversation."
        ),
        (
            "Commands in the text (`thought_action` and other parsers) are text: only "
            "mini-swe-agent's are read."
        ),
    ),
)
