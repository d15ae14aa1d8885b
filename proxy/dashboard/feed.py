"""The live fan-out: every reader has a bounded queue of its own, so none can delay a turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

import anyio

from proxy.dashboard.rows import encoded, live_row
from proxy.store import HitRecord

TRIGGERED = "ttsr_triggered"
DROPPED = "ttsr_dropped"


@dataclass(frozen=True, slots=True)
class LiveEvent:
    """One event for readers: its name and one line of JSON."""

    name: str
    data: str


class Feed:
    """All readers of the live stream. `backlog`: events that one reader may be behind."""

    def __init__(self, backlog: int = 256) -> None:
        self._backlog = backlog
        self._readers: set[Reader] = set()
        self._dropped = 0
        self._ended = anyio.Event()

    @property
    def readers(self) -> int:
        """How many read at present."""
        return len(self._readers)

    @property
    def dropped(self) -> int:
        """Events that readers were too slow for, since the start."""
        return self._dropped

    @property
    def ended(self) -> bool:
        """Whether no event will come any more."""
        return self._ended.is_set()

    def publish(self, hits: Sequence[HitRecord]) -> None:
        """Hand the hits to every reader, one event for each attempt and action. Never waits."""
        if not self._readers or self.ended:
            return
        for event in _events(hits):
            for reader in self._readers:
                self._dropped += reader.put(event)

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """Read from now on; leaving the context forgets the reader."""
        reader = Reader(self._backlog, ended=self.ended)
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)

    def end(self) -> None:
        """End every stream after what is queued for it; for the server's way out."""
        self._ended.set()
        for reader in self._readers:
            reader.end()

    async def wait_ended(self) -> None:
        """Return when `end` was called."""
        await self._ended.wait()


class Reader:
    """One reader's queue, an asynchronous iterator. The oldest events give way, counted."""

    def __init__(self, backlog: int, *, ended: bool = False) -> None:
        self._queue: deque[LiveEvent] = deque(maxlen=backlog)
        self._missed = 0
        self._ended = ended
        self._wake = anyio.Event()

    def put(self, event: LiveEvent) -> int:
        """Queue an event; the answer is how many older ones it pushed out (0 or 1)."""
        pushed_out = int(len(self._queue) == self._queue.maxlen)
        self._missed += pushed_out
        self._queue.append(event)
        self._wake.set()
        return pushed_out

    def end(self) -> None:
        """Let the iteration stop once the queue is empty."""
        self._ended = True
        self._wake.set()

    def __aiter__(self) -> Reader:
        return self

    async def __anext__(self) -> LiveEvent:
        while not self._queue:
            if self._ended:
                raise StopAsyncIteration
            self._wake = anyio.Event()
            await self._wake.wait()
        if self._missed:
            missed, self._missed = self._missed, 0
            return LiveEvent(DROPPED, encoded({"count": missed}))
        return self._queue.popleft()


def _events(hits: Sequence[HitRecord]) -> list[LiveEvent]:
    """Group hits that one decision joined: same turn, attempt and action."""
    events = []
    for _, group in groupby(hits, lambda hit: (hit.turn, hit.attempt, hit.action)):
        joined = list(group)
        first = joined[0]
        told = {
            "rules": list(dict.fromkeys(hit.rule for hit in joined)),
            "action": first.action,
            "conversation": first.conversation,
            "turn": first.turn,
            "attempt": first.attempt,
            "agent": first.agent,
            "model": first.model,
            "time": first.time,
            "hits": [live_row(hit) for hit in joined],
        }
        events.append(LiveEvent(TRIGGERED, encoded(told)))
    return events
