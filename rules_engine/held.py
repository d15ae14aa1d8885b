"""Wire events that were read but not yet released: first in, first out.

Only ordinals and positions are kept here; the bytes stay with whoever reads the wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Extent(NamedTuple):
    """How far the prose surfaces had come at the end of one wire event.

    `calls`: it carries pieces of tool calls. `locked`: it waits for the message's end.
    `open`: it ends within a character, so it goes out with the next event or not at all.
    """

    ordinal: int
    text: int
    thinking: int
    calls: bool
    locked: bool
    open: bool = False


class HeldEvents:
    """The queue. `text_out` and `thinking_out`: characters of released events."""

    __slots__ = ("_queue", "calls_out", "text_out", "thinking_out")

    def __init__(self) -> None:
        self.text_out = 0
        self.thinking_out = 0
        self.calls_out = False
        self._queue: list[Extent] = []  # a deque takes 760 bytes while it is empty

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[Extent]:
        return iter(self._queue)

    def append(self, extent: Extent) -> None:
        """The next event of the wire."""
        self._queue.append(extent)

    def extend(self, extents: Iterable[Extent]) -> None:
        """The next events of the wire."""
        self._queue.extend(extents)

    def release(self, text: int, thinking: int, *, calls: bool) -> int | None:
        """Take out events that end at or before both hold positions.

        `calls`: whether events with tool calls may go. Returns the last ordinal taken, if any.
        """
        count = 0
        for number, head in enumerate(self._queue, 1):
            if head.locked or head.text > text or head.thinking > thinking:
                break
            if head.calls and not calls:
                break
            count = count if head.open else number
        return self._take(count)

    def release_oldest(self, limit: int, *, calls: bool) -> int | None:
        """Take out the oldest events until at most `limit` characters of prose are held."""
        if not self._queue:
            return None
        least = self._queue[-1].text + self._queue[-1].thinking - limit
        count, out = 0, self.text_out + self.thinking_out
        for head in self._queue:
            if out >= least or head.locked or (head.calls and not calls):
                break
            count, out = count + 1, head.text + head.thinking
        return self._take(count)

    def release_all(self) -> int | None:
        """Take out everything."""
        return self._take(len(self._queue))

    @property
    def held_characters(self) -> int:
        """Characters of prose in the queue."""
        if not self._queue:
            return 0
        newest = self._queue[-1]
        return (newest.text - self.text_out) + (newest.thinking - self.thinking_out)

    def _take(self, count: int) -> int | None:
        if count == 0:
            return None
        taken = self._queue[:count]
        del self._queue[:count]
        for extent in taken:
            self.calls_out = self.calls_out or extent.calls
        last = taken[-1]
        self.text_out, self.thinking_out = last.text, last.thinking
        return last.ordinal
