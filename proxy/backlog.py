"""Events of one attempt that were read and not yet released, with their bytes; pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from proxy.sse import SseEvent, event_of
from proxy.wire import Decoded, Texts
from rules_engine.events import TextDelta, ThinkingDelta


class HeldEvent(NamedTuple):
    """One of them. `text`, `thinking`: characters of the first choice's prose that it carries."""

    ordinal: int
    event: SseEvent
    decoded: Decoded
    text: int
    thinking: int


class Run:
    """Events in a row that carry a piece of one choice's text each, and nothing else.

    `size`: their bytes. `has_id`: one had an `id` field.
    """

    __slots__ = ("_events", "choice", "has_id", "pieces", "size")

    def __init__(self, choice: int) -> None:
        self.choice = choice
        self.pieces: list[str] = []
        self.size = 0
        self.has_id = False
        self._events: list[tuple[SseEvent, Decoded]] = []

    def add(self, event: SseEvent, decoded: Decoded, text: TextDelta) -> None:
        """One more; `text` is all that it carries."""
        self._events.append((event, decoded))
        self.pieces.append(text.text)
        self.size += len(event.raw)
        self.has_id = self.has_id or event.has_id

    @property
    def raw(self) -> bytes:
        """All of their bytes."""
        return b"".join([event.raw for event, _ in self._events])

    def events(self) -> Iterable[tuple[SseEvent, Decoded]]:
        """Each of them, and what it says."""
        return self._events


class CutRun:
    """The same, where the events are a line of data each and are not made yet.

    `parts`: what stands in each, in front of its blank line.
    """

    __slots__ = ("_parts", "choice", "pieces", "raw")

    has_id = False

    def __init__(self, parts: Sequence[bytes], texts: Texts) -> None:
        self.choice, self.pieces = texts
        self.raw = b"\n\n".join([*parts, b""])
        self._parts = parts

    def events(self) -> Iterator[tuple[SseEvent, Decoded]]:
        """Each of them, and what it says."""
        for part, piece in zip(self._parts, self.pieces, strict=True):
            yield event_of(part), Decoded((TextDelta(self.choice, piece),))


class Backlog:
    """First in, first out. `count`: events of the attempt so far. `size`: bytes that wait."""

    __slots__ = ("_events", "count", "size")

    def __init__(self) -> None:
        self.count = 0
        self.size = 0
        self._events: deque[HeldEvent] | None = None  # made with the first; it is large when empty

    def __bool__(self) -> bool:
        return bool(self._events)

    def __iter__(self) -> Iterator[HeldEvent]:
        return iter(self._events or ())

    def add(self, event: SseEvent, decoded: Decoded) -> None:
        """The next event of the attempt."""
        text = thinking = 0
        for each in decoded.events:
            if isinstance(each, TextDelta) and each.choice == 0:
                text += len(each.text)
            elif isinstance(each, ThinkingDelta) and each.choice == 0:
                thinking += len(each.text)
        if self._events is None:
            self._events = deque()
        self._events.append(HeldEvent(self.count, event, decoded, text, thinking))
        self.count += 1
        self.size += len(event.raw)

    def extend(self, run: Run | CutRun) -> None:
        """The next events of the attempt."""
        for event, decoded in run.events():
            self.add(event, decoded)

    def first(self, through: int) -> HeldEvent | None:
        """Give the event that goes next, if its ordinal is no greater than `through`."""
        if self._events and self._events[0].ordinal <= through:
            return self._events[0]
        return None

    def drop_first(self) -> None:
        """Take it out."""
        if self._events:
            self.size -= len(self._events.popleft().event.raw)
            self._events = self._events or None

    def clear(self) -> None:
        """Take out everything."""
        self._events = None
        self.size = 0
