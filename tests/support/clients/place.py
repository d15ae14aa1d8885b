"""The proxy that the client libraries are tried through, with rules for each thing that it does."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from proxy.assembly import assemble
from tests.support.agent import PATIENT, write_rules
from tests.support.proxy import running_proxy, settings_for
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream

RULES = {
    "kind": rule_text("Say it kindly.", condition="FORBIDDEN"),
    # Only the end of the finished argument can decide it, so it is refused and never cut.
    "more": rule_text("Say more.", condition="end$", scope="tool:edit"),
    "calm": rule_text("Stay calm.", condition="QUIETLY", scope="tool", interruptMode="never"),
}


@dataclass
class Place:
    """A running proxy, the upstream behind it, and words that no conversation had before."""

    url: str
    upstream: ScriptedUpstream
    topics: Iterator[str]

    def raw(self, number: int) -> list[bytes]:
        """The messages of one request, byte for byte as the upstream got them."""
        body = self.upstream.exchanges[number].request.body
        return [bytes(message) for message in msgspec.json.decode(body, type=_Body).messages]


class _Body(msgspec.Struct):
    messages: list[msgspec.Raw]


@asynccontextmanager
async def open_place(workspace: Path) -> AsyncIterator[Place]:
    """Run both servers over `workspace`."""
    write_rules(workspace, **RULES)
    async with ScriptedUpstream() as upstream:
        given = settings_for(upstream, workspace=str(workspace), db=str(workspace / "ttsr.db"))
        async with running_proxy(given, partial(assemble, patience=PATIENT)) as proxy:
            yield Place(proxy.url, upstream, (f"topic{n}x" for n in itertools.count(1)))
