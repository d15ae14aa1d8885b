from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.cline import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({}, "You are Cline, a software engineer.", ()),
        ({}, "", ("editor", "run_commands")),
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
        ("editor", {"path": "a.ts", "new_text": "x"}, [("a.ts", "x", {"edit", "write"})]),
        (
            "editor",
            {"path": "a.ts", "old_text": "old", "new_text": "new"},
            [("a.ts", "new", {"edit"})],
        ),
        (
            "editor",
            {"path": "a.ts", "new_text": "new", "insert_line": 3},
            [("a.ts", "new", {"edit"})],
        ),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            [("a.rs", "new", {"edit"})],
        ),
        (
            "apply_patch",
            json.dumps("*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"),
            [("a.rs", "new", {"edit"})],
        ),
        ("run_commands", {"commands": "ls"}, [("", "ls", {"bash", "shell"})]),
        (
            "run_commands",
            {"commands": ["ls", "pwd"]},
            [("", "ls", {"bash", "shell"}), ("", "pwd", {"bash", "shell"})],
        ),
        (
            "run_commands",
            {"commands": [{"command": "ls", "args": ["-l"]}]},
            [("", "ls", {"bash", "shell"}), ("", "-l", {"bash", "shell"})],
        ),
        ("write_to_file", {"path": "a.ts", "content": "x"}, [("a.ts", "x", {"write"})]),
        (
            "replace_in_file",
            {"path": "a.ts", "diff": "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE"},
            [("a.ts", "new", {"edit"})],
        ),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names
