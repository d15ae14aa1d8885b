"""An audit log kept in memory, which can be told to be down or to hang."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import anyio

from proxy.store import HitQuery, HitRecord, RuleCount, StoreUnavailable, TurnRecord


class MemoryAuditLog:
    """The `AuditLog` protocol over two lists.

    `down`: every call raises. `gate`: where there is one, calls wait for it first.
    `refuses`: `record` raises this, as a backend with a fault of its own would.
    """

    def __init__(self) -> None:
        self.rows: list[HitRecord] = []
        self.turn_rows: list[TurnRecord] = []
        self.batches: list[int] = []
        self.attempts = 0
        self.down = False
        self.gate: anyio.Event | None = None
        self.refuses: Exception | None = None

    async def record(self, hits: Sequence[HitRecord], turns: Sequence[TurnRecord]) -> Sequence[int]:
        self.attempts += 1
        await self._answer()
        if self.refuses is not None:
            raise self.refuses
        first = len(self.rows) + 1
        stored = [replace(hit, id=first + place) for place, hit in enumerate(hits)]
        self.rows.extend(stored)
        self.turn_rows.extend(turns)
        self.batches.append(len(hits) + len(turns))
        return [hit.id for hit in stored]

    async def hits(self, query: HitQuery) -> Sequence[HitRecord]:
        await self._answer()
        return [hit for hit in reversed(self.rows) if _matches(hit, query)][: query.limit]

    async def counts(self) -> Sequence[RuleCount]:
        await self._answer()
        total = Counter((hit.rule, hit.action) for hit in self.rows)
        return [RuleCount(rule, action, count) for (rule, action), count in total.items()]

    async def turns(self, limit: int) -> Sequence[TurnRecord]:
        await self._answer()
        return self.turn_rows[::-1][:limit]

    async def _answer(self) -> None:
        await anyio.lowlevel.checkpoint()
        if self.gate is not None:
            await self.gate.wait()
        if self.down:
            raise StoreUnavailable("the store is switched off")


def _matches(hit: HitRecord, query: HitQuery) -> bool:
    named = (
        (query.rule, hit.rule),
        (query.surface, hit.surface),
        (query.action, hit.action),
        (query.conversation, hit.conversation),
    )
    return (
        all(wanted is None or wanted == found for wanted, found in named)
        and (query.since is None or hit.time >= query.since)
        and (query.cursor is None or hit.id < query.cursor)
    )
