"""How the proxy stops: no new turns, time for those under way, then an end for the rest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

import anyio

from proxy.errors import Overloaded, Stopping
from proxy.waiting import cancel_scope

# What a turn has to tell its client, once its time is over and before it is cut.
LAST_WORDS = 2.0


class Drain:
    """Counts turns, and ends them in two steps once the proxy stops.

    When the time for turns is over, whoever asked for it with `at_ending` is called, to tell its
    clients; `last_words` seconds later what is left is cancelled.
    """

    def __init__(self, limit: int, grace: float = 30.0, *, last_words: float = LAST_WORDS) -> None:
        self.stopping = False
        self._limit = limit
        self._grace = grace
        self._last_words = last_words
        self._turns: set[anyio.CancelScope] = set()
        self._first_steps: list[Callable[[], None]] = []
        self._last_steps: list[Callable[[], None]] = []

    @property
    def turns(self) -> int:
        """How many are under way."""
        return len(self._turns)

    def turn(self) -> AbstractContextManager[None]:
        """Count one turn while the block runs; raises Overloaded or Stopping where none may."""
        if self.stopping:
            raise Stopping("the proxy is shutting down; try again", retry_after=1)
        if len(self._turns) >= self._limit:
            raise Overloaded(
                f"{self._limit} requests are under way, which is the limit; "
                "try again, or raise limits.turns",
                retry_after=1,
            )
        return _Counted(self._turns)

    def at_stop(self, step: Callable[[], None]) -> None:
        """Have `step` called as soon as the proxy stops, for streams that end by no other means."""
        self._first_steps.append(step)

    def at_ending(self, step: Callable[[], None]) -> None:
        """Have `step` called when the time for turns is over, before they are cut."""
        self._last_steps.append(step)

    async def run(self) -> None:
        """Stop: returns once every turn has ended or was cancelled."""
        self.stopping = True
        for step in self._first_steps:
            step()
        await anyio.sleep(self._grace)
        for step in self._last_steps:
            step()
        await anyio.sleep(self._last_words)
        for turn in self._turns:
            turn.cancel()


class _Counted(AbstractContextManager[None]):
    """One turn among `turns`. A generator would be 300 bytes more, kept while it runs."""

    __slots__ = ("_scope", "_turns")

    def __init__(self, turns: set[anyio.CancelScope]) -> None:
        self._turns = turns
        self._scope = cancel_scope()

    def __enter__(self) -> None:
        self._scope.__enter__()
        self._turns.add(self._scope)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._turns.discard(self._scope)
        return self._scope.__exit__(kind, problem, trace)
