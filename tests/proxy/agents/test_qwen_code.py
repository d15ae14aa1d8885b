from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.qwen_code import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({"user-agent": "QwenCode/0.15.10 (linux; x64)"}, "", ()),
        ({}, "You are Qwen Code, an agent.", ()),
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
        ("write_file", {"file_path": "/w/a.py", "content": "x"}, [("/w/a.py", "x", {"write"})]),
        (
            "edit",
            {"file_path": "/w/a.py", "old_string": "old", "new_string": "new"},
            [("/w/a.py", "new", set())],
        ),
        (
            "replace",
            {
                "file_path": "/w/a.py",
                "old_string": "old",
                "new_string": "new",
                "instruction": "why",
            },
            [("/w/a.py", "new", {"edit"})],
        ),
        ("run_shell_command", {"command": "ls", "directory": "."}, [("", "ls", {"bash", "shell"})]),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
