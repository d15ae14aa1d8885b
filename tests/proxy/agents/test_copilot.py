from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.copilot import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({"x-interaction-type": "conversation-agent"}, "", ()),
        ({"user-agent": "GitHubCopilotChat/0.40"}, "", ()),
        ({}, "", ("replace_string_in_file", "run_in_terminal")),
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
        ("create_file", {"filePath": "/w/a.ts", "content": "x"}, [("/w/a.ts", "x", {"write"})]),
        (
            "replace_string_in_file",
            {"filePath": "/w/a.ts", "oldString": "old", "newString": "new"},
            [("/w/a.ts", "new", {"edit"})],
        ),
        (
            "insert_edit_into_file",
            {"explanation": "why", "filePath": "/w/a.ts", "code": "new"},
            [("/w/a.ts", "new", {"edit"})],
        ),
        (
            "edit_notebook_file",
            {"filePath": "/w/a.ipynb", "newCode": ["1", "2"]},
            [("/w/a.ipynb", "1", {"edit"}), ("/w/a.ipynb", "2", {"edit"})],
        ),
        (
            "multi_replace_string_in_file",
            {
                "explanation": "why",
                "replacements": [
                    {"filePath": "a", "oldString": "old", "newString": "1"},
                    {"newString": "2", "filePath": "b"},
                ],
            },
            [("a", "1", {"edit"}), ("b", "2", {"edit"})],
        ),
        (
            "apply_patch",
            {
                "input": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n",
                "explanation": "why",
            },
            [("a.rs", "new", {"edit"})],
        ),
        (
            "run_in_terminal",
            {"command": "ls", "explanation": "why"},
            [("", "ls", {"bash", "shell"})],
        ),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
