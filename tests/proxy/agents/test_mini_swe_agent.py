from __future__ import annotations

from typing import Any

import pytest

from proxy.agents import collect
from proxy.agents.mini_swe_agent import AGENT
from proxy.identity import RequestFacts, edits_in_prose, recognise
from rules_engine.families import ProseFormat
from tests.support.tool_calls import added


@pytest.mark.parametrize(
    ("headers", "system", "tools"),
    [
        ({}, "You are a helpful assistant that can interact with a computer.", ()),
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
        ("bash", {"command": "ls"}, [("", "ls", {"shell"})]),
        (
            "bash",
            {"command": "cd w && cat <<'EOF' > a.py\nx\nEOF\n"},
            [("", "cd w && cat <<'EOF' > a.py\nx\nEOF\n", {"shell"}), ("a.py", "x", {"write"})],
        ),
    ],
)
def test_call_gives_its_added_source(tool: str, arguments: Any, expected: list[Any]) -> None:
    """File, added text, and what a scope may call the tool beside its own name."""
    found = added(tool, arguments)
    assert [section[:2] for section in found] == [section[:2] for section in expected]
    for (_, _, names), (_, _, wanted) in zip(found, expected, strict=True):
        assert wanted <= names


@pytest.mark.parametrize(
    "taught",
    [
        "Your response must contain exactly ONE bash code block with ONE command.",
        "Include **EXACTLY ONE** bash code block.",
        "```mswea_bash_command\nyour_command_here\n```",
    ],
)
def test_command_in_the_text_is_taught_by_the_prompt(taught: str) -> None:
    """Where the model has no tools, it is the text that runs the shell."""
    edits = edits_in_prose(RequestFacts(system=taught), AGENT)
    assert edits is not None
    assert edits.formats == (ProseFormat.SHELL,)
