"""The parts of `docs/agents.md` that are made from `proxy/agents`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from proxy.agents import Agent, collect
from rules_engine.families import canonical_of
from tests.support.made_tables import DOCS, Tables, table, write

PAGE = DOCS / "agents.md"
AGENTS = sorted(collect(), key=lambda agent: agent.title.lower())
_ACTIONS = ("write", "edit", "bash")
_NONE = "—"


def recognition() -> str:
    """How each agent, its conversation, and what stands beside it are told."""
    head = (
        "agent",
        "in the audit",
        "told by",
        "session",
        "sub-agents",
        "side requests",
        "directory",
    )
    return table(head, map(_told, AGENTS))


def _told(agent: Agent) -> tuple[str, ...]:
    sides = [*(side.what for side in agent.side_prompts)]
    side_headers = _code(mark.name for mark in agent.side_headers)
    return (
        agent.title,
        f"`{agent.name}`",
        _listed((*_code(mark.name for mark in agent.marks.headers), *_marks(agent))),
        _listed((*_session_headers(agent), *(f"body `{key}`" for key in agent.session_body))),
        _listed((*_code(mark.name for mark in agent.sub_agent), *_if("prompt", agent.sub_prompts))),
        _listed((*side_headers, *sides)),
        _listed(
            (*_code(name for name, _ in agent.workspace_json), *_if("prompt", agent.workspace))
        ),
    )


def _marks(agent: Agent) -> Iterator[str]:
    yield from _if("user agent", agent.marks.user_agent)
    yield from _if("prompt", agent.marks.prompt)
    yield from _if("tools", agent.marks.tools)


def _session_headers(agent: Agent) -> Iterator[str]:
    inside = (f"{name} {key}" for name, key in agent.session_json)
    yield from _code((*inside, *agent.session_headers))


def _if(word: str, there: object) -> Iterator[str]:
    if there:
        yield word


def _code(words: Iterable[str]) -> Iterator[str]:
    return (f"`{word}`" for word in words)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words)) or _NONE


def tools() -> str:
    """What each agent's tools count as, what it writes into its text, and what it asks for."""
    head = ("agent", "`write`", "`edit`", "`bash`", "edits in prose", "asks for")
    return table(head, map(_tools, AGENTS))


def _tools(agent: Agent) -> tuple[str, ...]:
    own = {each.name: each for each in AGENTS}
    families = (*agent.families, *(own[agent.fork_of].families if agent.fork_of else ()))
    by_action = [
        _listed(
            f"`{tool}`"
            for family in families
            if action in canonical_of(family)[:1] or action in family.canonical
            for tool in family.tools
        )
        for action in _ACTIONS
    ]
    prose = _listed(shape for taught in agent.prose_formats for shape in taught.formats)
    return (agent.title, *by_action, prose, _listed(agent.apis))


def settings() -> str:
    """How to point each agent at the proxy, and what is not understood of it."""
    return "\n\n".join(map(_settings, AGENTS))


def _settings(agent: Agent) -> str:
    parts = [f"### {agent.title}"]
    for setting in agent.settings:
        block = f"```{setting.language}\n{setting.text}```"
        parts.append(f"{setting.where}:\n\n{block}" if setting.where else block)
    parts += ["\n".join(f"- {limit}" for limit in agent.limits)] if agent.limits else []
    return "\n\n".join(parts)


TABLES: Tables = {"recognition": recognition, "tools": tools, "settings": settings}


if __name__ == "__main__":
    write(Path(sys.argv[1]), TABLES)
