from __future__ import annotations

import importlib
import json
import pkgutil
import re
from dataclasses import replace
from typing import Any

import pytest

import proxy.agents
from proxy.agents import ANY_AGENT, Agent, Marks, checked, collect, tool_families
from proxy.identity import RequestFacts, recognise
from rules_engine.families import ToolFamily, named, parsed
from tests.support.tool_calls import read_call

AGENTS = collect()
SHAPES = [
    (agent.name, tool, family)
    for agent in AGENTS
    for family in agent.families
    for tool in family.tools
]


def nested(spec: tuple[str | int | None, ...], value: Any) -> Any:
    """Build the arguments in which `value` stands at `spec`."""
    if not spec:
        return value
    inner = nested(spec[1:], value)
    return [inner] if spec[0] is None else {str(spec[0]): inner}


def merged(one: Any, other: Any) -> Any:
    match one, other:
        case dict(), dict():
            keys = dict.fromkeys((*one, *other))
            return {
                key: merged(one[key], other[key])
                if key in one and key in other
                else one.get(key, other.get(key))
                for key in keys
            }
        case list(), list():
            return [merged(one[0], other[0])]
        case _:
            return other


def example(family: ToolFamily, argument: str) -> Any:
    """Build a call that the family explains: its first path, its selectors, and one source."""
    parts = [(path, "src/made.py") for path in family.paths[:1]]
    parts += [(name, values[0]) for name, values in family.where]
    parts += [(old, "OLD") for old in family.removed[:1]]
    parts.append((argument, "NEW"))
    arguments: Any = {}
    for name, value in parts:
        arguments = merged(arguments, nested(parsed(name), value))
    return arguments


SOURCES = [
    (agent, tool, family, argument) for agent, tool, family in SHAPES for argument in family.added
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
    assert set(families) == {replace(family, rooted=False) for family in everything}


@pytest.mark.parametrize("agent", [*AGENTS, ANY_AGENT], ids=lambda agent: agent.name)
def test_patterns_compile_and_headers_are_lower_case(agent: Agent) -> None:
    """Every pattern is a regular expression; every header name is as servers give it."""
    marks = (*agent.marks.headers, *agent.sub_agent, *agent.side_headers)
    patterns = [mark.pattern for mark in marks]
    patterns += [*agent.marks.user_agent, *agent.marks.prompt, *agent.side_prompts]
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
        assert recognise({}, RequestFacts(tools=tuple(tools)), AGENTS) == agent


@pytest.mark.parametrize(("agent", "tool", "family"), SHAPES)
def test_family_names_are_bare_and_found(agent: str, tool: str, family: ToolFamily) -> None:
    """Tools are listed in lower case without prefix, so that they can be found."""
    assert family in named(tool_families(AGENTS, agent), f"mcp__any__{tool.upper()}")
    assert family.added or family.patches or family.freeform


@pytest.mark.parametrize(("agent", "tool", "family", "argument"), SOURCES)
def test_family_gives_new_source_and_never_old(
    agent: str, tool: str, family: ToolFamily, argument: str
) -> None:
    """The call that a family describes gives its source under its path, cut and turned anyhow."""
    families = tool_families(AGENTS, agent)
    arguments = example(family, argument)
    raw = json.dumps(arguments)
    whole = read_call(tool, raw, families=families)
    assert read_call(tool, raw, range(1, len(raw)), families=families) == whole
    tail = ("made.py",) if family.rooted else ()
    paths = ("src/made.py", *tail) if family.paths else ()
    new = [section for section in whole.sections if section.text == "NEW"]
    assert [section.paths for section in new] == [paths]
    assert set(family.canonical) <= set(new[0].names) or family.without
    assert all("OLD" not in section.text for section in whole.sections)
    for other in (json.dumps(raw), json.dumps(dict(reversed(arguments.items())))):
        sections = read_call(tool, other, families=families).sections
        assert {(s.paths, s.text) for s in sections} == {(s.paths, s.text) for s in whole.sections}


@pytest.mark.parametrize(("agent", "tool", "family", "argument"), SOURCES)
def test_family_survives_truncated_and_duplicate_arguments(
    agent: str, tool: str, family: ToolFamily, argument: str
) -> None:
    """However a call is cut short or repeats itself, old text stays out."""
    families = tool_families(AGENTS, agent)
    raw = json.dumps(example(family, argument))
    for length in range(0, len(raw), 2):
        for section in read_call(tool, raw[:length], families=families).sections:
            assert "OLD" not in section.text
    twice = raw[:-1] + ", " + raw[1:]
    sections = read_call(tool, twice, families=families).sections
    assert sum(section.text == "NEW" for section in sections) == 2
