from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.codex import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({"originator": "codex_exec"}, "", ()),
        ({"user-agent": "codex_cli_rs/0.171.0"}, "", ()),
        ({}, "You are a coding agent running in the Codex CLI.", ()),
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
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            [("a.rs", "new", {"edit"})],
        ),
        (
            "shell",
            {
                "command": [
                    "apply_patch",
                    "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n",
                ],
                "workdir": "/w",
            },
            [
                ("", "apply_patch", {"bash"}),
                (
                    "",
                    "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n",
                    {"bash"},
                ),
                ("a.rs", "new", {"edit"}),
            ],
        ),
        ("exec_command", {"cmd": "ls"}, [("", "ls", {"bash", "shell"})]),
        ("write_stdin", {"session_id": 1, "chars": "y"}, [("", "y", {"bash", "shell"})]),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        (
            "apply_patch",
            "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n",
            [("a.rs", "new", {"edit"})],
        ),
    ],
)
def test_raw_input_gives_its_added_source(tool: str, text: str, expected: list[Any]) -> None:
    """The same for a tool whose input is no JSON."""
    found = added(tool, text, freeform=True)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
