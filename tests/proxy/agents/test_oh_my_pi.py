from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.oh_my_pi import AGENT
from proxy.identity import RequestFacts, recognise
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({"user-agent": "oh-my-pi/18"}, "", ()),
        ({}, "You are an agent of oh-my-pi.", ()),
        ({}, "", ("edit", "ast_edit", "bash")),
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
        ("write", {"path": "a.rs", "content": "x"}, [("a.rs", "x", set())]),
        (
            "edit",
            {"path": "a.rs", "old_string": "old", "new_string": "new"},
            [("a.rs", "new", set())],
        ),
        (
            "edit",
            {"path": "a.rs", "edits": [{"op": "create", "diff": "all\n-of it"}]},
            [("a.rs", "all\n-of it", {"write"})],
        ),
        (
            "edit",
            {
                "path": "a.rs",
                "edits": [{"diff": "@@\n-old\n+new\n ctx", "op": "update", "rename": "b.rs"}],
            },
            [("a.rs", "new", set()), ("b.rs", "new", set())],
        ),
        ("edit", {"input": "[a.rs#1f3]\nPUT 4\n+new\n"}, [("a.rs", "new", set())]),
        (
            "edit",
            {"input": "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** End Patch\n"},
            [("a.rs", "new", set())],
        ),
        (
            "ast_edit",
            {"ops": [{"pat": "old($A)", "out": "new($A)"}], "paths": ["a.rs", "b.rs"]},
            [("a.rs b.rs", "new($A)", {"edit"})],
        ),
        ("bash", {"command": "ls"}, [("", "ls", {"shell"})]),
        ("read", {"path": "a.rs"}, [("a.rs", "a.rs", set())]),
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
        ("edit", "[a.rs#1f3]\n+new\n", [("a.rs", "new", set())]),
    ],
)
def test_raw_input_gives_its_added_source(tool: str, text: str, expected: list[Any]) -> None:
    """The same for a tool whose input is no JSON."""
    found = added(tool, text, freeform=True)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
