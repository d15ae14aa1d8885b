from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.goose import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({"agent-session-id": "1"}, "", ()),
        ({}, "You are a general-purpose AI agent called goose.", ()),
    ],
)
def test_request_is_recognised(
    headers: dict[str, str], system: str, tools: tuple[str, ...]
) -> None:
    """Each mark alone shows the agent, and no other."""
    facts = RequestFacts(system=system, tools=tools)
    assert recognise(headers, facts, collect()) == AGENT


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("write", {"path": "a.py", "content": "x"}, [("a.py", "x", set())]),
        ("edit", {"path": "a.py", "before": "old", "after": "new"}, [("a.py", "new", set())]),
        (
            "text_editor",
            {"command": "write", "path": "a.py", "file_text": "x"},
            [("a.py", "x", {"edit", "write"})],
        ),
        (
            "text_editor",
            {"command": "str_replace", "path": "a.py", "old_str": "old", "new_str": "new"},
            [("a.py", "new", {"edit"})],
        ),
        ("shell", {"command": "ls"}, [("", "ls", {"bash"})]),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
