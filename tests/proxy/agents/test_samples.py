"""What every agent was seen to send, and what is made of it: one table an agent."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import proxy.agents
from proxy.agents import collect, tool_families
from proxy.identity import Identity, RequestFacts, Route, TenantPolicy, identify
from proxy.recognition import Recogniser
from tests.support import samples
from tests.support.samples import Call, Request
from tests.support.tool_calls import read_call

AGENTS = collect()
RECOGNISER = Recogniser(AGENTS)
NAMES = {
    module.name: importlib.import_module(f"proxy.agents.{module.name}").AGENT.name
    for module in pkgutil.iter_modules(proxy.agents.__path__)
}
TABLES = samples.collect()
POLICY = TenantPolicy(secret=b"", loopback=True)


def identified(request: Request) -> Identity:
    facts = RequestFacts(
        tools=request.declared,
        tools_off=request.tools_off,
        system=request.system,
        first_user=request.first_user,
        last_user=request.last_user,
        hints=request.hints,
    )
    return identify(dict(request.headers), facts, Route(), POLICY, RECOGNISER)


def test_every_agent_has_its_table() -> None:
    """An agent's file needs a table of what it was seen to send: at least how it is recognised."""
    assert sorted(TABLES) == sorted(NAMES)
    assert all(table.requests for table in TABLES.values())


REQUESTS = [(NAMES[module], each) for module, table in TABLES.items() for each in table.requests]


@pytest.mark.parametrize(
    ("agent", "request_seen"),
    REQUESTS,
    ids=[f"{agent}-{n}" for n, (agent, _) in enumerate(REQUESTS)],
)
def test_request_says_who_sent_it(agent: str, request_seen: Request) -> None:
    """The agent and no other, its role, session, directory, and what the request is for."""
    found = identified(request_seen)
    assert found.agent == agent
    told = (found.role, found.session, found.workspace_label, found.side)
    wanted = request_seen
    assert told == (wanted.role, wanted.session, wanted.workspace, wanted.side)
    assert (frozenset(found.edits.formats), found.edits.path) == (wanted.formats, wanted.path)


CALLS = [(NAMES[module], each) for module, table in TABLES.items() for each in table.calls]


@pytest.mark.parametrize(
    ("agent", "call"), CALLS, ids=[f"{agent}-{call}-{n}" for n, (agent, call) in enumerate(CALLS)]
)
def test_call_gives_its_snapshot(agent: str, call: Call) -> None:
    """Every section of the finished call, in order: files, added text, names; however it is cut."""
    families = tool_families(AGENTS, agent)
    whole = read_call(call.tool, call.raw, freeform=call.freeform, families=families)
    cuts = range(1, len(call.raw))
    assert read_call(call.tool, call.raw, cuts, freeform=call.freeform, families=families) == whole
    own = call.tool.lower()
    assert [
        (section.paths, section.text, set(section.names) - {own}) for section in whole.sections
    ] == [(tuple(each.paths.split()), each.text, set(each.names.split())) for each in call.snapshot]


def test_tools_are_borrowed_between_agents() -> None:
    """An agent that is not recognised is held to the same rules."""
    for module, table in TABLES.items():
        for call in table.calls:
            known = tool_families(AGENTS, NAMES[module])
            unknown = tool_families(AGENTS, "unknown")
            texts = [
                [
                    section.text
                    for section in read_call(
                        call.tool, call.raw, freeform=call.freeform, families=each
                    ).sections
                ]
                for each in (known, unknown)
            ]
            assert texts[0] == texts[1]
