from __future__ import annotations

from proxy.agents import collect
from proxy.agents.openai_agents import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


def test_request_is_recognised() -> None:
    """The SDK says its name in the user agent."""
    assert recognise({"user-agent": "Agents/Python 0.24.0"}, RequestFacts(), collect()) == AGENT


def test_operation_gives_its_added_lines() -> None:
    """Only the lines that begin with a plus sign are new, in the file of the operation."""
    operation = {"type": "update_file", "diff": "@@\n ctx\n-old\n+new", "path": "a.py"}
    names = {"edit"}
    assert added("apply_patch", {"operation": operation}) == [("a.py", "new", names)]
