"""aider: no tools; its edits are prose."""

from __future__ import annotations

from proxy.agents import Agent, Marks

AGENT = Agent(
    name="aider",
    marks=Marks(
        user_agent=(r"\baider/",),
        prompt=(r"act as an expert software developer\b", r"search/replace block\b"),
    ),
    prose_edits=(r"act as an expert software developer\b",),
)
