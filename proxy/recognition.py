"""Which agent sent a request: by its headers, its prompt and the tools that it declares; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from proxy.agents import ANY_AGENT, Agent, HeaderMark

PROMPT_HEAD = 4000  # characters of a prompt in which marks are looked for

_MOST_TEXTS = 64  # user agents, and prompts, of which it is remembered what they show


class Recogniser:
    """Knows agents by their marks, which are sorted once by where they are looked for.

    What a user agent or a prompt shows is remembered for the newest of them: clients send the
    same ones all day. It decides nothing, so several threads may use it at a time.
    """

    def __init__(self, agents: Iterable[Agent]) -> None:
        self._agents = tuple(agents)
        self._marked: defaultdict[str, list[tuple[Agent, HeaderMark]]] = defaultdict(list)
        for agent in self._agents:
            for mark in agent.marks.headers:
                self._marked[mark.name].append((agent, mark))
        self._by_name = {agent.name: agent for agent in self._agents}
        self._named = lru_cache(_MOST_TEXTS)(self._search_user_agent)
        self._introduced = lru_cache(_MOST_TEXTS)(self._search_prompt)

    def agent(self, headers: Mapping[str, str], tools: Sequence[str], system: str) -> Agent:
        """Find the one agent that sent the request; `ANY_AGENT` where nothing shows it.

        `headers` have lower-case names; `system` is the prompt. Headers of its own are surest,
        then the user agent, the prompt, and the declared tools; a surer kind outweighs all below
        it. Among equals it is the one that the prompt names first (who it is stands in front of
        what it knows of others), then the one with more of its tools declared, then the first by
        name.
        """
        own = self._with_own_header(headers)
        named = self._named(headers.get("user-agent", ""))
        # All of these show the same of the two surest kinds, so the others decide among them.
        likely = own & named or own or named
        if len(likely) == 1:
            return self._by_name[next(iter(likely))]
        introduced = self._introduced(system[:PROMPT_HEAD])
        declared = self._declared(frozenset(tools)) if tools else {}
        candidates = likely or introduced.keys() | declared.keys()
        if not candidates:
            return ANY_AGENT
        best = min(
            candidates,
            key=lambda name: (
                name not in introduced,
                name not in declared,
                introduced.get(name, 0),
                -declared.get(name, 0),
                name,
            ),
        )
        return self._by_name[best]

    def _with_own_header(self, headers: Mapping[str, str]) -> frozenset[str]:
        return frozenset(
            agent.name
            for name in self._marked.keys() & headers.keys()
            for agent, mark in self._marked[name]
            if blind(mark.pattern).search(headers[name])
        )

    def _search_user_agent(self, text: str) -> frozenset[str]:
        return frozenset(
            agent.name
            for agent in self._agents
            if any(blind(pattern).search(text) for pattern in agent.marks.user_agent)
        )

    def _search_prompt(self, text: str) -> Mapping[str, int]:
        """Say whom a prompt names, and where first."""
        prompt = text.lower()
        found: dict[str, int] = {}
        for agent in self._agents:
            matches = [exact(pattern).search(prompt) for pattern in agent.marks.prompt]
            places = [match.start() for match in matches if match is not None]
            if places:
                found[agent.name] = min(places)
        return found

    def _declared(self, tools: frozenset[str]) -> Mapping[str, int]:
        """Say whose tools are there, and how many of them at most."""
        found: dict[str, int] = {}
        for agent in self._agents:
            sizes = [len(own) for own in agent.marks.tools if own <= tools]
            if sizes:
                found[agent.name] = max(sizes)
        return found


@cache
def exact(pattern: str) -> re.Pattern[str]:
    """Compile an agent's pattern; there are as many as the agents' files hold."""
    return re.compile(pattern)


@cache
def blind(pattern: str) -> re.Pattern[str]:
    """Compile an agent's pattern, blind to case."""
    return re.compile(pattern, re.IGNORECASE)
