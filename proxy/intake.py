"""One attempt as it is read: bytes to events, and what they say of the attempt as a whole; pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import accumulate

from proxy.backlog import CutRun, Run
from proxy.sse import SseEvent, SseReader, event_of
from proxy.wire import AttemptMessage, Decoded, Decoder, Texts
from rules_engine.events import FinishReason, TurnEvent

_RECORDED = (b"[DONE]", b'"usage"', b'"error"')  # what the turn's record wants of unwatched events


class Intake:
    """Reads one attempt. `limit`: the largest event in bytes.

    `done`: the end mark was read. `failed`: the upstream reported an error in its stream.
    `finish_seen`: it said why it finished. `usage`: the last counts that it told.
    `parts`, `texts`: those of its reader and decoder, which most reads need no more than.
    """

    __slots__ = ("_decoder", "_sse", "done", "failed", "finish_seen", "parts", "texts", "usage")

    def __init__(self, decoder: Decoder, limit: int) -> None:
        self.done = False
        self.failed = False
        self.finish_seen = False
        self.usage: Mapping[str, int] | None = None
        self._decoder = decoder
        self._sse = SseReader(limit)
        self.parts = self._sse.parts
        self.texts = decoder.texts

    def events(self, data: bytes, parts: list[bytes] | None) -> Events:
        """Give the events that more bytes complete. Raises `sse.EventTooLarge`.

        `parts`: what `parts` has made of those bytes; where it is None, they are read now.
        """
        return ReadEvents(self._decoder, self._sse.feed(data)) if parts is None else self.cut(parts)

    def cut(self, parts: list[bytes]) -> CutEvents:
        """Give the events that were cut into `parts`."""
        return CutEvents(self._decoder, parts)

    def tail(self) -> Events:
        """Read what the end left unterminated, if anything. Raises `sse.EventTooLarge`."""
        tail = self._sse.tail()
        return ReadEvents(self._decoder, () if tail is None else (tail,))

    def rest(self) -> bytes:
        """Read no further: hand over every byte that no event has carried yet."""
        return self._sse.rest()

    def document(self, body: bytes) -> tuple[Decoded, tuple[TurnEvent, ...]]:
        """Read and note a whole JSON answer; also gives all of its events, to the end."""
        decoded = self._decoder.document(body)
        self.note(decoded)
        return decoded, (*decoded.events, *self.close(broken=False))

    def note(self, decoded: Decoded) -> None:
        """Take in what an event says of the attempt."""
        self.done = self.done or decoded.done
        self.failed = self.failed or decoded.error
        for event in decoded.events:
            self.finish_seen = self.finish_seen or isinstance(event, FinishReason)
        if decoded.usage is not None:
            self.usage = decoded.usage

    def close(self, *, broken: bool) -> tuple[TurnEvent, ...]:
        """End the output, as broken where it failed."""
        return self._decoder.close(broken=broken or self.failed)

    def message(self) -> AttemptMessage:
        """Answer with what was said so far on the first choice."""
        return self._decoder.message(0)


class Events(ABC):
    """Events of one read, each to be taken once. `at`: how many were taken of `count`."""

    __slots__ = ("_ahead", "_decoder", "at", "count")

    def __init__(self, decoder: Decoder, count: int) -> None:
        self._decoder = decoder
        self.count = count
        self.at = 0
        self._ahead: tuple[SseEvent, Decoded] | None = None  # the next one, where it was read

    @property
    def over(self) -> bool:
        """Whether all of them were taken."""
        return self.at >= self.count

    def run(self, room: int) -> Run | CutRun | None:
        """Take as many as carry a piece of one choice's text each, or none.

        The one that brings them to more than `room` bytes is the last.
        """
        run: Run | None = None
        while self.at < self.count and (run is None or run.size <= room):
            try:
                event, decoded = self.look()
            except Exception:
                if run is None:
                    raise
                break
            text = decoded.only_text
            if text is None or not (run is None or text.choice == run.choice):
                break
            run = run or Run(text.choice)
            run.add(event, decoded, text)
            self.event()
        return run

    def look(self) -> tuple[SseEvent, Decoded]:
        """Read the next one, which is not taken by that."""
        if self._ahead is None:
            event = self._event(self.at)
            self._ahead = event, self._decoder.decode(event)
        return self._ahead

    def event(self) -> SseEvent:
        """Take the next one."""
        event = self._event(self.at) if self._ahead is None else self._ahead[0]
        self.at += 1
        self._ahead = None
        return event

    def untold(self) -> bytes:
        """Take those in front of the first in which there may be something to note."""
        out: list[bytes] = []
        while self.at < self.count and not tells(raw := self._event(self.at).raw):
            out.append(raw)
            self.event()
        return b"".join(out)

    @abstractmethod
    def _event(self, number: int) -> SseEvent: ...


class ReadEvents(Events):
    """Events that were read one by one."""

    __slots__ = ("_events",)

    def __init__(self, decoder: Decoder, events: Sequence[SseEvent]) -> None:
        super().__init__(decoder, len(events))
        self._events = events

    def _event(self, number: int) -> SseEvent:
        return self._events[number]


class CutEvents(Events):
    """Events that were cut at their blank lines, and are read where that is needed."""

    __slots__ = ("_parts",)

    def __init__(self, decoder: Decoder, parts: list[bytes]) -> None:
        super().__init__(decoder, len(parts))
        self._parts = parts

    def run(self, room: int) -> Run | CutRun | None:
        """Take as many as carry a piece of one choice's text each, or none."""
        parts = self._parts if self.count == 1 else self._within(room)
        texts = None if self._ahead else self._decoder.texts(parts)
        return super().run(room) if texts is None else self.took(texts)

    def took(self, texts: Texts) -> CutRun:
        """Take those that carry `texts`, which the decoder has read."""
        begin, self.at = self.at, self.at + len(texts[1])
        return CutRun(self._parts[begin : self.at], texts)

    def untold(self) -> bytes:
        """Take those in front of the first in which there may be something to note."""
        left = self._parts[self.at :]
        count = 0
        for part in left:
            if tells(part):
                break
            count += 1
        if count:
            self.at, self._ahead = self.at + count, None
        return b"\n\n".join([*left[:count], b""])

    def _within(self, room: int) -> list[bytes]:
        """Give what is left, up to the event that brings it to more than `room` bytes."""
        left = self._parts[self.at :] if self.at else self._parts
        if sum(map(len, left)) + 2 * len(left) <= room:
            return left
        sizes = accumulate(len(part) + 2 for part in left)
        return left[: sum(size <= room for size in sizes) + 1]

    def _event(self, number: int) -> SseEvent:
        return event_of(self._parts[number])


def tells(raw: bytes) -> bool:
    """Whether there may be something to note in what nobody reads."""
    for word in _RECORDED:  # noqa: SIM110 - a generator would cost as much as the search
        if word in raw:
            return True
    return False
