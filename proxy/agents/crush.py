"""Crush: snake-case arguments, several edits in one call."""

from __future__ import annotations

from proxy.agents import Agent, Marks
from rules_engine.families import ToolFamily, shell_family

AGENT = Agent(
    name="crush",
    marks=Marks(
        user_agent=(r"\bcrush/", r"\bcharm[- ]fantasy/"),
        prompt=(r"you are crush\b",),
        tools=(frozenset({"multiedit", "view", "bash"}),),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("file_path",), added=("content",)),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("file_path",),
            added=("new_string",),
            removed=("old_string",),
        ),
        ToolFamily(
            ("multiedit", "multi_edit"),
            ("edit",),
            paths=("file_path",),
            added=("edits[].new_string",),
            removed=("edits[].old_string",),
        ),
        shell_family(("bash",), ("command",)),
    ),
    session_headers=("x-session-id", "x-session-affinity"),
    workspace=(r"Working directory:[ \t]*([^\r\n]+)",),
)
