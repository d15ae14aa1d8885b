"""mini-swe-agent: a shell and nothing else, called as a tool or by a block in the text."""

from __future__ import annotations

from proxy.agents import Agent, Marks, Taught
from rules_engine.families import ProseFormat, shell_family

AGENT = Agent(
    name="mini-swe-agent",
    marks=Marks(
        user_agent=(r"\bmini-swe-agent\b",),
        prompt=(r"you are a helpful assistant that can interact (?:multiple times )?with a\b",),
    ),
    families=(shell_family(("bash",), ("command",)),),
    prose_formats=(
        Taught(r"\bmswea_bash_command\b", (ProseFormat.SHELL,)),
        Taught(r"\bone\W{1,4}bash code block\b", (ProseFormat.SHELL,)),
    ),
)
