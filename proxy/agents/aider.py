"""aider: no tools; its edits are prose."""

from __future__ import annotations

from proxy.agents import Agent, Marks, Setting, SidePrompt, Taught
from rules_engine.families import ProseFormat

AGENT = Agent(
    name="aider",
    title="aider",
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
    prose_formats=(
        # Formats that nothing else looks like are read whatever mode it is in.
        Taught(
            r"act as an expert software developer\b",
            (ProseFormat.SEARCH_REPLACE, ProseFormat.UNIFIED, ProseFormat.ENVELOPE),
        ),
        Taught(r"\bfile listing\b", (ProseFormat.WHOLE_FILE,)),
        Taught(r"\bdiff -u0\b", (ProseFormat.UNIFIED,)),
        Taught(r"\*\*\* begin patch\b", (ProseFormat.ENVELOPE,)),
    ),
    side_prompts=(SidePrompt("summary", r"\bsummarize this partial conversation\b"),),
    settings=(
        Setting(
            "sh",
            """\
export OPENAI_API_BASE=http://127.0.0.1:8787/v1 OPENAI_API_KEY=…
aider --model openai/MODEL
""",
        ),
    ),
    limits=("A fence for a shell is shown, not run, and stays prose.",),
)
