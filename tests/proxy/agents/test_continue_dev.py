from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.continue_dev import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({}, "", ("create_new_file", "edit_existing_file")),
        ({}, "You are an agent in the Continue CLI.", ()),
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
        ("create_new_file", {"filepath": "a.ts", "contents": "x"}, [("a.ts", "x", {"write"})]),
        ("Write", {"filepath": "a.ts", "content": "x"}, [("a.ts", "x", set())]),
        (
            "Edit",
            {"file_path": "a.ts", "old_string": "old", "new_string": "new"},
            [("a.ts", "new", set())],
        ),
        (
            "single_find_and_replace",
            {"filepath": "a.ts", "old_string": "old", "new_string": "new"},
            [("a.ts", "new", {"edit"})],
        ),
        ("edit_existing_file", {"filepath": "a.ts", "changes": "new"}, [("a.ts", "new", {"edit"})]),
        (
            "MultiEdit",
            {"file_path": "a.ts", "edits": [{"old_string": "old", "new_string": "new"}]},
            [("a.ts", "new", {"edit"})],
        ),
        ("Bash", {"command": "ls"}, [("", "ls", {"shell"})]),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
