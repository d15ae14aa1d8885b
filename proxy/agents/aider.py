"""aider: no tools; its edits are prose."""

from __future__ import annotations

from proxy.agents import Agent, Marks

AGENT = Agent(
    name="aider",
    marks=Marks(
        user_agent=(r"\baider/",),
        prompt=(r"\bAct as an expert software developer\b", r"\bSEARCH/REPLACE block\b"),
    ),
)
