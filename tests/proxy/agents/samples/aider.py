"""What aider sends, and what is to be made of it."""

from __future__ import annotations

from rules_engine.families import ProseFormat
from tests.support.samples import Samples, seen

CODER = "Act as an expert software developer.\n"
ALWAYS = frozenset({ProseFormat.SEARCH_REPLACE, ProseFormat.UNIFIED, ProseFormat.ENVELOPE})

SAMPLES = Samples(
    requests=(
        seen(
            {"user-agent": "OpenAI/Python 2.1"},
            system=f"{CODER}Use a *SEARCH/REPLACE block* for every change.",
            formats=ALWAYS,
        ),
        seen(
            system=f"{CODER}Return a *file listing* of each file.",
            formats=ALWAYS | {ProseFormat.WHOLE_FILE},
        ),
        seen(system=f"{CODER}Write the changes as `diff -U0` would.", formats=ALWAYS),
        seen(system="Act as an expert code analyst.\nAnswer questions."),
        seen(system="Act as an expert architect engineer and provide direction."),
        seen(system="You are an expert on the AI coding tool called Aider."),
        # A commit message is an answer like others; a summary replaces messages.
        seen(system="You write concise, one-line Git commit messages based on the provided diffs."),
        seen(system="*Briefly* summarize this partial conversation about programming.", side=True),
    ),
)
