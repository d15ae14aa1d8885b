"""pi: `write` and `edit` with `path`; sends no session on chat completions."""

from __future__ import annotations

from proxy.agents import Agent, Marks
from rules_engine.families import ToolFamily

AGENT = Agent(
    name="pi",
    marks=Marks(
        user_agent=(r"\bpi-coding-agent\b",),
        prompt=(r"inside pi\b",),
    ),
    families=(
        ToolFamily(("write",), ("write",), paths=("path",), added=("content",)),
        ToolFamily(
            ("edit",),
            ("edit",),
            paths=("path",),
            added=("newText", "edits[].newText"),
            removed=("oldText", "edits[].oldText"),
        ),
    ),
    workspace=(r"Current working directory:[ \t]*([^\r\n]+)",),
)
