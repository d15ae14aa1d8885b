"""OpenAI's Agents SDK: a hosted patch tool with one operation a call."""

from __future__ import annotations

from proxy.agents import Agent, Marks
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily

AGENT = Agent(
    name="openai-agents",
    marks=Marks(user_agent=(r"\bagents/python\b",)),
    families=(
        ToolFamily(
            ("apply_patch", "apply_patch_call"),
            ("edit", "apply_patch"),
            paths=("operation.path",),
            patches=(PatchArgument("operation.diff", PatchFormat.HUNKS),),
        ),
    ),
)
