"""One attempt as it is read: bytes to events, and what they say of the attempt as a whole; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proxy.backlog import CutRun
from proxy.sse import SseEvent, SseReader, lines_of
from proxy.wire import AttemptMessage, Decoded, Decoder
from rules_engine.events import FinishReason, TurnEvent

_RECORDED = (b"[DONE]", b'"usage"', b'"error"')  # what the turn's record wants of unwatched events


class Intake:
    """Reads one attempt. `limit`: the largest event in bytes.

    `done`: the end mark was read. `failed`: the upstream reported an error in its stream.
    `finish_seen`: it said why it finished. `usage`: the last counts that it told.
    """

    __slots__ = ("_decoder", "_sse", "done", "failed", "finish_seen", "usage")

    def __init__(self, decoder: Decoder, limit: int) -> None:
        self.done = False
        self.failed = False
        self.finish_seen = False
        self.usage: Mapping[str, int] | None = None
        self._decoder = decoder
        self._sse = SseReader(limit)

    def feed(self, data: bytes) -> Sequence[SseEvent]:
        """Read more bytes, and give the events that they complete. Raises `sse.EventTooLarge`."""
        return self._sse.feed(data)

    def texts(self, data: bytes, limit: int) -> CutRun | None:
        """Read more bytes where all that they complete is text, within `limit` bytes.

        None where it is anything else, or nothing: then nothing was read.
        """
        whole = self._sse.whole(data)
        if whole is None or len(whole) > limit:
            return None
        lines = lines_of(whole)
        texts = None if lines is None else self._decoder.texts(lines)
        if lines is None or texts is None:
            return None
        if whole is not data:
            self._sse.keep(data, whole)
        return CutRun(whole, lines, texts)

    def pass_by(self, data: bytes) -> bytes | None:
        """Give the events that more bytes complete, unread, where there is nothing to note in them.

        None where there may be, or where there are none: then nothing was read.
        """
        whole = self._sse.whole(data)
        if whole is None or _tells(whole):
            return None
        if whole is not data:
            self._sse.keep(data, whole)
        return whole

    def tells(self, event: SseEvent) -> bool:
        """Whether there may be something to note in an event."""
        return _tells(event.raw)

    def tail(self) -> SseEvent | None:
        """Read what the end left unterminated. Raises `sse.EventTooLarge`."""
        return self._sse.tail()

    def rest(self) -> bytes:
        """Read no further: hand over every byte that no event has carried yet."""
        return self._sse.rest()

    def decode(self, event: SseEvent) -> Decoded:
        """Read an event; what it says of the attempt counts when it is noted."""
        return self._decoder.decode(event)

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


def _tells(raw: bytes) -> bool:
    for word in _RECORDED:  # noqa: SIM110 - a generator would cost as much as the search
        if word in raw:
            return True
    return False
