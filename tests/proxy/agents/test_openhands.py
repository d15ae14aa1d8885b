from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.openhands import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({}, "You are OpenHands agent.", ()),
        ({}, "", ("file_editor", "terminal")),
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
            "file_editor",
            {"command": "create", "path": "/w/a.py", "file_text": "x"},
            [("/w/a.py", "x", {"edit", "write"})],
        ),
        (
            "str_replace_editor",
            {"command": "str_replace", "path": "/w/a.py", "old_str": "old", "new_str": "new"},
            [("/w/a.py", "new", {"edit"})],
        ),
        (
            "file_editor",
            {"command": "insert", "path": "/w/a.py", "insert_line": 3, "new_str": "new"},
            [("/w/a.py", "new", {"edit"})],
        ),
        (
            "file_editor",
            {"command": "view", "path": "/w/a.py"},
            [("/w/a.py", "view", set()), ("/w/a.py", "/w/a.py", set())],
        ),
        (
            "apply_patch",
            {"patch": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            [("a.rs", "new", {"edit"})],
        ),
        ("terminal", {"command": "ls"}, [("", "ls", {"bash", "shell"})]),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
