"""`docs/agents.md` says what the code knows of agents, and its settings can be pasted."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Callable, Mapping

import pytest
import yaml

from proxy.agents import Agent, Api, Setting, collect
from tests.support import agent_docs, made_tables

PAGE = agent_docs.PAGE.read_text(encoding="utf-8")
AGENTS = collect()
PARSERS: Mapping[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "python": ast.parse,
    "sh": str,
    "text": str,
}
# Says only that the agent has rules of its own to switch off.
NO_ADDRESS = "ttsr:"


def test_parts_are_those_of_the_code() -> None:
    """The page is what `make docs` writes."""
    assert made_tables.page(PAGE, agent_docs.TABLES) == PAGE
    assert sorted(made_tables.names(PAGE)) == sorted(agent_docs.TABLES)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_agent_says_how_it_is_pointed_at_the_proxy(agent: Agent) -> None:
    """Each has a title, and a setting that holds the proxy's address."""
    assert agent.title
    assert any("http://127.0.0.1:8787" in setting.text for setting in agent.settings)


@pytest.mark.parametrize(
    "setting",
    [setting for agent in AGENTS for setting in agent.settings],
    ids=[f"{agent.name}-{n}" for agent in AGENTS for n in range(len(agent.settings))],
)
def test_setting_can_be_pasted(setting: Setting) -> None:
    """It is what it says that it is, and ends its last line."""
    assert PARSERS[setting.language](setting.text)
    assert setting.text.endswith("\n")
    assert "127.0.0.1:8787" in setting.text or setting.text.startswith(NO_ADDRESS)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_agent_that_may_pass_without_rules_says_so(agent: Agent) -> None:
    """The Responses API is forwarded untouched, which a user has to know."""
    told = any("passes through without rules" in limit for limit in agent.limits)
    assert told == (Api.RESPONSES in agent.apis)


def test_fork_names_an_agent() -> None:
    """Its tools are those of an agent that is known."""
    names = {agent.name for agent in AGENTS}
    assert all(agent.fork_of in names for agent in AGENTS if agent.fork_of)
