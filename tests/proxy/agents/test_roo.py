from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.roo import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({"user-agent": "RooCode/3"}, "", ()),
        ({"x-roo-task-id": "1"}, "", ()),
        ({}, "You are Roo, an engineer.", ()),
        ({}, "", ("apply_diff", "write_to_file")),
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
        ("write_to_file", {"path": "a.ts", "content": "x"}, [("a.ts", "x", {"write"})]),
        (
            "apply_diff",
            {
                "path": "a.ts",
                "diff": "<<<<<<< SEARCH\n:start_line:1\nold\n=======\nnew\n>>>>>>> REPLACE",
            },
            [("a.ts", "new", {"edit"})],
        ),
        (
            "search_replace",
            {"file_path": "a.ts", "old_string": "old", "new_string": "new"},
            [("a.ts", "new", {"edit"})],
        ),
        (
            "apply_patch",
            {"patch": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            [("a.rs", "new", {"edit"})],
        ),
        ("execute_command", {"command": "ls", "cwd": "/w"}, [("", "ls", {"bash", "shell"})]),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
