from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.opencode import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({"user-agent": "opencode/1.18.33 ai-sdk/2"}, "", ()),
        ({"x-opencode-session": "ses_1"}, "", ()),
        ({}, "You are opencode, a coding tool.", ()),
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
        ("write", {"content": "x", "filePath": "/w/a.ts"}, [("/w/a.ts", "x", set())]),
        (
            "edit",
            {"filePath": "/w/a.ts", "oldString": "old", "newString": "new", "replaceAll": True},
            [("/w/a.ts", "new", set())],
        ),
        (
            "multiedit",
            {"filePath": "/w/a.ts", "edits": [{"oldString": "old", "newString": "new"}]},
            [("/w/a.ts", "new", {"edit"})],
        ),
        (
            "apply_patch",
            {"patchText": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            [("a.rs", "new", {"edit"})],
        ),
        (
            "bash",
            {"command": "ls", "description": "list", "workdir": "/w"},
            [("", "ls", {"shell"})],
        ),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
