"""aider: no tools; its edits are prose."""

from __future__ import annotations

from proxy.agents import Agent, Marks

AGENT = Agent(
    name="aider",
    marks=Marks(
        user_agent=(r"\baider/",),
        prompt=(
            r"act as an expert (?:software developer|code analyst|architect engineer)\b",
            r"search/replace block\b",
            r"\bai coding tool called aider\b",
            r"\bone-line git commit messages based on the provided diffs\b",
            r"\bsummarize this partial conversation about programming\b",
        ),
    ),
    prose_edits=(r"act as an expert software developer\b",),
)
