from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.crush import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({}, "You are Crush, a terminal agent.", ()),
        ({}, "", ("multiedit", "view", "bash", "write")),
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
        ("write", {"file_path": "a.go", "content": "x"}, [("a.go", "x", set())]),
        (
            "edit",
            {"file_path": "a.go", "old_string": "old", "new_string": "new"},
            [("a.go", "new", set())],
        ),
        (
            "multiedit",
            {
                "file_path": "a.go",
                "edits": [
                    {"old_string": "old", "new_string": "1"},
                    {"old_string": "", "new_string": "2"},
                ],
            },
            [("a.go", "1", {"edit"}), ("a.go", "2", {"edit"})],
        ),
        (
            "bash",
            {"command": "cat > a.go <<EOF\nx\nEOF\n", "working_dir": "/w"},
            [("", "cat > a.go <<EOF\nx\nEOF\n", {"shell"}), ("a.go", "x", {"write"})],
        ),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
