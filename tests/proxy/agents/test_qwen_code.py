from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.qwen_code import AGENT
from proxy.identity import RequestFacts, is_side_request, recognise
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
    "system",
    [
        "You are the component that summarizes internal chat history into a given structure.",
        "You are a specialized context summarizer that creates a summary.",
        "You generate session recaps for a programming assistant CLI.",
        "Write a short summary label describing what these tool calls accomplished.",
    ],
)
def test_compression_and_its_like_are_side_requests(system: str) -> None:
    """What it asks beside the conversation declares no tools and has prompts of its own."""
    headers = {"user-agent": "QwenCode/0.15.10 (linux; x64)"}
    assert is_side_request(headers, RequestFacts(system=system), AGENT)
    assert not is_side_request(headers, RequestFacts(system=system, tools=("edit",)), AGENT)


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
