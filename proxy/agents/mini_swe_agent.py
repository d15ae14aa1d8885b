"""mini-swe-agent: a shell and nothing else."""

from __future__ import annotations

from proxy.agents import Agent, Marks
from rules_engine.families import shell_family

AGENT = Agent(
    name="mini-swe-agent",
    marks=Marks(
        user_agent=(r"\bmini-swe-agent\b",),
        prompt=(r"you are a helpful assistant that can interact (?:multiple times )?with a\b",),
    ),
    families=(shell_family(("bash",), ("command",)),),
)
