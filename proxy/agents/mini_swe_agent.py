"""mini-swe-agent: a shell and nothing else, called as a tool or by a block in the text."""

from __future__ import annotations

from proxy.agents import Agent, Marks, Setting, Taught
from rules_engine.families import ProseFormat, shell_family

AGENT = Agent(
    name="mini-swe-agent",
    title="mini-swe-agent",
    marks=Marks(
        user_agent=(r"\bmini-swe-agent\b",),
        prompt=(r"you are a helpful assistant that can interact (?:multiple times )?with a\b",),
    ),
    families=(shell_family(("bash",), ("command",)),),
    prose_formats=(
        Taught(r"\bmswea_bash_command\b", (ProseFormat.SHELL,)),
        Taught(r"\bone\W{1,4}bash code block\b", (ProseFormat.SHELL,)),
    ),
    settings=(
        Setting(
            "sh",
            "OPENAI_API_BASE=http://127.0.0.1:8787/v1 OPENAI_API_KEY=… mini --model openai/MODEL\n",
        ),
    ),
    limits=("With a prompt of your own it is `unknown`; its `bash` is understood all the same.",),
)
