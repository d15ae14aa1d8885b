from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.swe_agent import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({}, "", ("str_replace_editor", "submit", "bash")),
        ({}, "SETTING: You are an autonomous programmer.", ()),
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
        (
            "str_replace_editor",
            {"command": "create", "path": "/w/a.py", "file_text": "x"},
            [("/w/a.py", "x", {"edit", "write"})],
        ),
        (
            "str_replace_editor",
            {"command": "insert", "path": "/w/a.py", "insert_line": 3, "new_str": "new"},
            [("/w/a.py", "new", {"edit"})],
        ),
        ("edit", {"search": "old", "replace": "new"}, [("", "new", set())]),
        ("edit", {"start_line": 1, "end_line": 2, "replacement_text": "new"}, [("", "new", set())]),
        ("insert", {"text": "new"}, [("", "new", {"edit"})]),
        ("bash", {"command": "ls"}, [("", "ls", {"shell"})]),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
