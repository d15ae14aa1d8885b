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
    ],
)
def test_request_is_recognised(
    headers: dict[str, str], system: str, tools: tuple[str, ...]
) -> None:
    """Each mark alone shows the agent, and no other."""
    facts = RequestFacts(system=system, tools=tools)
    assert recognise(headers, facts, collect()) == AGENT
