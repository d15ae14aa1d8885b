"""One timer for all turns under way: each is told about once a second that time has passed.

A task with a timer of its own for each turn would be 5 KB more that an idle stream keeps.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import Protocol

from proxy.step import place_of

log = logging.getLogger(__name__)

_SLICES = 20  # of a period, each with its share of the turns, so that no beat holds up the loop


class Living(Protocol):
    """What feels the pulse. Neither may wait."""

    def beat(self) -> None:
        """Time has passed."""

    def stop(self) -> None:
        """Come to an end, as the proxy stops."""


class Pulse:
    """Made once; `end` is for when the proxy stops. Turns are beaten every `period` seconds."""

    def __init__(self, period: float = 1.0) -> None:
        self._slice = period / _SLICES
        self._ended = False
        self._slices: list[set[Living]] = [set() for _ in range(_SLICES)]
        self._shares = itertools.cycle(self._slices)
        self._next = itertools.cycle(self._slices)
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    def join(self, turn: Living) -> None:
        """Let `turn` feel it until it leaves; behind the proxy's end it is stopped at once."""
        next(self._shares).add(turn)
        self._count += 1
        if self._ended:
            turn.stop()
        if self._timer is None:
            self._wind()

    def leave(self, turn: Living) -> None:
        """Leave out a turn that has joined."""
        for share in self._slices:
            share.discard(turn)
        self._count -= 1

    def end(self) -> None:
        """Stop every turn, and those that still come."""
        self._ended = True
        for turn in [turn for share in self._slices for turn in share]:
            turn.stop()

    def _wind(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._slice, self._beat)

    def _beat(self) -> None:
        self._timer = None
        if self._count:
            self._wind()
        for turn in tuple(next(self._next)):
            try:
                turn.beat()
            except Exception as problem:  # noqa: BLE001 - a fault of ours with one turn harms no other
                # Its words may hold what a model wrote, so its place has to be enough.
                log.error("a fault of ours while time passed: %s", place_of(problem))  # noqa: TRY400
