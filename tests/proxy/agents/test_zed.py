from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.agents import collect, tool_families
from proxy.agents.zed import AGENT
from proxy.identity import RequestFacts, edits_in_prose, recognise
from rules_engine.families import EditsInProse, ProseFormat
from tests.support.tool_calls import added, read_call


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({"user-agent": "Zed/0.220 (linux; x86_64)"}, "", ()),
        ({}, "", ("edit_file", "terminal", "diagnostics")),
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
        ("write_file", {"path": "root/a.rs", "content": "x"}, [("root/a.rs", "x", {"write"})]),
        (
            "edit_file",
            {"display_description": "why", "path": "root/a.rs", "mode": "write", "content": "x"},
            [("root/a.rs", "x", {"edit", "write"})],
        ),
        (
            "edit_file",
            {"path": "root/a.rs", "edits": [{"old_text": "old", "new_text": "new"}]},
            [("root/a.rs", "new", {"edit"})],
        ),
        (
            "edit_file",
            {"path": "root/a.rs", "edits": json.dumps([{"old_text": "old", "new_text": "new"}])},
            [("root/a.rs", "new", {"edit"})],
        ),
        ("terminal", {"command": "ls", "cd": "root"}, [("", "ls", {"bash", "shell"})]),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names


def test_path_is_also_given_without_the_worktree() -> None:
    """Zed's paths begin with the worktree's name, which no glob does; other agents' do not."""
    raw = '{"path": "root/src/a.rs", "content": "x"}'
    for agent, paths in (("zed", ("root/src/a.rs", "src/a.rs")), ("goose", ("root/src/a.rs",))):
        families = tool_families(collect(), agent)
        for tool in ("write_file", "edit_file"):
            reading = read_call(tool, raw, families=families)
            assert [section.paths for section in reading.live] == [paths]
            assert reading.sections == reading.live
    absolute = read_call("write_file", '{"path": "/w/a.rs", "content": "x"}', families=families)
    assert [section.paths for section in absolute.sections] == [("/w/a.rs",)]


def test_new_file_is_asked_for_in_a_request_of_its_own() -> None:
    """Its answer is the file in a fence, and the path stands in the question."""
    asked = (
        "You MUST respond with the file's content wrapped in triple backticks (```).\n"
        "<file_path>\napp/a.rs\n</file_path>"
    )
    edits = edits_in_prose(RequestFacts(last_user=asked), AGENT)
    assert edits == EditsInProse((ProseFormat.WHOLE_FILE,), "app/a.rs")
