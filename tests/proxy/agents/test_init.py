from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import replace

import pytest

import proxy.agents
from proxy.agents import (
    ANY_AGENT,
    Agent,
    Marks,
    checked,
    collect,
    tool_families,
    with_open_file,
)
from proxy.conversation import Call, Message
from proxy.recognition import Recogniser
from rules_engine.families import ToolFamily, named
from tests.support.tool_calls import read_call

AGENTS = collect()
SHAPES = [
    (agent.name, tool, family)
    for agent in AGENTS
    for family in agent.families
    for tool in family.tools
]


@pytest.mark.parametrize("module", [m.name for m in pkgutil.iter_modules(proxy.agents.__path__)])
def test_every_file_defines_an_agent(module: str) -> None:
    """A file of the folder is one agent with a name, and says what it is."""
    loaded = importlib.import_module(f"proxy.agents.{module}")
    assert isinstance(loaded.AGENT, Agent)
    assert loaded.__doc__
    assert loaded.AGENT.marks != Marks()


def test_agents_are_collected_by_name() -> None:
    """Every name is there once, in order."""
    names = [agent.name for agent in AGENTS]
    assert names == sorted(set(names))
    assert {"codex", "oh-my-pi", "opencode", "cline", "openhands"} <= set(names)


def test_two_agents_of_one_name_are_refused() -> None:
    """A name stands for one agent; the error names what clashed."""
    with pytest.raises(ValueError, match=r"same name: \['a', 'a'\]"):
        checked([Agent("a"), Agent("a")])


def test_families_of_the_agent_come_first() -> None:
    """All families are known to every request, those of its agent in front."""
    codex = next(agent for agent in AGENTS if agent.name == "codex")
    families = tool_families(AGENTS, "codex")
    assert families[: len(codex.families)] == codex.families
    everything = {family for agent in AGENTS for family in agent.families}
    assert set(families) == {replace(family, rooted=False, opened_by=()) for family in everything}


@pytest.mark.parametrize("agent", [*AGENTS, ANY_AGENT], ids=lambda agent: agent.name)
def test_patterns_compile_and_headers_are_lower_case(agent: Agent) -> None:
    """Every pattern is a regular expression; every header name is as servers give it."""
    marks = (*agent.marks.headers, *agent.sub_agent, *agent.side_headers)
    patterns = [mark.pattern for mark in marks]
    patterns += [*agent.marks.user_agent, *agent.marks.prompt]
    patterns += [*agent.sub_prompts, *(side.pattern for side in agent.side_prompts)]
    for pattern in patterns:
        re.compile(pattern)
    taught = [each.pattern.replace("\\W", "") for each in agent.prose_formats]
    assert all(pattern == pattern.lower() for pattern in (*agent.marks.prompt, *taught))
    for pattern in agent.workspace:
        assert pattern[:3].isalpha() or pattern.startswith("<cwd>")
        assert re.compile(pattern).groups >= 1
    names = [*agent.session_headers, *(name for name, _ in agent.session_json)]
    assert all(name == name.lower() for name in (*names, *(mark.name for mark in marks)))


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_tool_marks_of_an_agent_show_no_other(agent: Agent) -> None:
    """A request with an agent's own tools is taken for no other agent's."""
    for tools in agent.marks.tools:
        assert Recogniser(AGENTS).agent({}, tuple(tools), "") == agent


@pytest.mark.parametrize(("agent", "tool", "family"), SHAPES)
def test_family_names_are_bare_and_found(agent: str, tool: str, family: ToolFamily) -> None:
    """Tools are listed in lower case without prefix, so that they can be found."""
    assert family in named(tool_families(AGENTS, agent), f"mcp__any__{tool.upper()}")
    assert family.added or family.patches or family.freeform


def test_path_is_also_given_without_the_workspaces_folder() -> None:
    """Only for the agent whose paths begin with it, which no glob does."""
    raw = '{"path": "root/src/a.rs", "content": "x"}'
    for agent, paths in (("zed", ("root/src/a.rs", "src/a.rs")), ("goose", ("root/src/a.rs",))):
        families = tool_families(AGENTS, agent)
        for tool in ("write_file", "edit_file"):
            reading = read_call(tool, raw, families=families)
            assert [section.paths for section in reading.live] == [paths]
            assert reading.sections == reading.live


def asked(*calls: tuple[str, str]) -> list[Message]:
    """A conversation with these calls (name, arguments), one a message."""
    made = [Message("assistant", "", calls=(Call(None, *call),)) for call in calls]
    return [Message("user", "go"), *made]


@pytest.mark.parametrize(
    ("messages", "file"),
    [
        (asked(), None),
        (asked(("open", '{"path": "a.py"}')), "a.py"),
        (asked(("open", '{"path": "a.py"}'), ("open", '{"path": "b.py"}')), "b.py"),
        (asked(("create", '{"filename": "c.py"}'), ("edit", '{"path": "d.py"}')), "c.py"),
        (asked(("open", '{"path": "a.py"}'), ("open", '{"path": 3}'), ("open", "[")), "a.py"),
        (asked(("open", '["a.py"]')), None),
    ],
)
def test_windowed_tool_edits_the_file_that_was_opened(
    messages: list[Message], file: str | None
) -> None:
    """Its call names none: the last call that opened one does, for the agent whose tool it is."""
    raw = '{"search": "old", "replace": "new"}'
    for agent, paths in (("swe-agent", (file,) if file else ()), ("goose", ())):
        families = with_open_file(tool_families(AGENTS, agent), messages)
        reading = read_call("edit", raw, range(1, len(raw)), families=families)
        assert [section.paths for section in reading.sections] == [paths]
        assert reading.live == reading.sections
