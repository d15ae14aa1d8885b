"""One hostile answer on trial: as replies of a scripted upstream, and what a proxy owes for it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from proxy.quirks import Profile
from tests.support.corpus import Case, scripted
from tests.support.upstream import Reply

Surface = Literal["text", "thinking", "tool"]
SURFACES: tuple[Surface, ...] = ("text", "thinking", "tool")
_BLANK_LINE = re.compile(rb"(?:\r\n|\r(?!\n)|\n)(?:\r\n|\r|\n)")
_LONGEST_STALL = 1.0  # seconds in which nobody can tell that the end will come


@dataclass(frozen=True, slots=True)
class Hit:
    """Where the first hit on a surface stands: its event's bytes are `body[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Trial:
    """An answer and its expectations.

    hits: by surface, where the pattern stands. at_end: surfaces on which only the end of the
    answer decides it, so that the upstream is read to its end. observed: several choices were
    asked for, so that nothing is ever cut. undelivered: bytes (from, to) of calls that were never
    finished. request: more fields of the client's request.
    """

    name: str
    reply: Reply
    kind: str = "stream"
    profile: Profile = field(default_factory=Profile)
    hits: Mapping[Surface, Hit] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    at_end: frozenset[Surface] = frozenset()
    observed: bool = False
    undelivered: tuple[tuple[int, int], ...] = ()

    @property
    def body(self) -> bytes:
        return self.reply.body

    @property
    def breaks(self) -> bool:
        """Whether the client must see that the answer was cut off."""
        return self.reply.terminate in {"abort", "reset"} and self.reply.framing != "close"

    def cut_at(self, splits: tuple[int, ...]) -> Trial:
        """Give the same answer in other reads."""
        return replace(self, reply=replace(self.reply, splits=splits))

    def gated(self, surface: Surface) -> Trial:
        """Let the upstream say no more, once the hit is certain, until it is left."""
        gates = {self.hits[surface].end: asyncio.Event()}
        return replace(self, reply=replace(self.reply, gates=gates))


def trial_of(played: Case) -> Trial:
    """Put a case of the corpus on trial."""
    rule = played.rule or {}
    pattern = rule.get("pattern", "FORBIDDEN")
    hits = {
        surface: _hit(played.body, rule.get("first_hit", {}).get(surface))
        for surface in SURFACES
        if rule.get("hits", {}).get(surface)
    }
    # A call that is never named is only known when it is over.
    at_end: set[Surface] = {"tool"} if played.name == "tool_name_empty_forever" else set()
    lenient = played.expected.get("lenient", {})
    if "text" not in hits and re.search(pattern, lenient.get("text", "")):
        # Some clients read the last event though its blank line is missing.
        hits["text"] = _hit(played.body, {"bytes": len(played.body)})
        at_end.add("text")
    return Trial(
        played.name,
        _reply(played),
        played.kind,
        played.profile,
        hits,
        at_end=frozenset(at_end),
    )


def _hit(body: bytes, first: Mapping[str, int] | None) -> Hit:
    """Find the hit's event by the bytes after which it is certain; a document is one event."""
    if first is None:
        return Hit(0, len(body))
    end = first["bytes"]
    borders = [found.end() for found in _BLANK_LINE.finditer(body) if found.end() < end]
    return Hit(max(borders, default=0), end)


def _reply(played: Case) -> Reply:
    """Script a case at its own pace, but for stalls that nobody should wait for."""
    reply = scripted(played)
    if b"[DONE]" in played.body:
        return reply
    return replace(reply, stall=min(reply.stall, _LONGEST_STALL))
