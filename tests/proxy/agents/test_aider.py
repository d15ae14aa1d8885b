from __future__ import annotations

import pytest

from proxy.agents import collect
from proxy.agents.aider import AGENT
from proxy.identity import RequestFacts, recognise


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        (
            {"user-agent": "OpenAI/Python 2.1"},
            "Act as an expert software developer.\nUse a *SEARCH/REPLACE block* for every change.",
            (),
        ),
        ({}, "Act as an expert code analyst.\nAnswer questions.", ()),
        ({}, "Act as an expert architect engineer and provide direction.", ()),
        ({}, "You are an expert on the AI coding tool called Aider.", ()),
        ({}, "You write concise, one-line Git commit messages based on the provided diffs.", ()),
        ({}, "*Briefly* summarize this partial conversation about programming.", ()),
    ],
)
def test_request_is_recognised(
    headers: dict[str, str], system: str, tools: tuple[str, ...]
) -> None:
    """Each mark alone shows the agent, and no other."""
    facts = RequestFacts(system=system, tools=tools)
    assert recognise(headers, facts, collect()) == AGENT
