"""Bytes to server-sent events that keep their raw bytes; pure.

Lines end at CR, LF or CRLF and nowhere else: models write U+2028 and its like inside JSON
strings. The field rules are those of the WHATWG event-stream format.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from proxy.errors import UpstreamFault

_LF = 0x0A
_DATA = b"data: "
_BOM = b"\xef\xbb\xbf"
EVENT_LIMIT = 16 * 1024 * 1024


class SseEvent(NamedTuple):
    """One event as it stood on the wire.

    `raw`: every byte from the end of the event before to the end of this one's blank line
    (comments included); all `raw` joined are the stream. `data` None: nothing is dispatched
    (comments, or fields without data); data lines are joined by LF. `name`: the event field,
    or `message`. `has_id`: an `id` field stood in it.
    """

    raw: bytes
    data: str | None
    name: str = "message"
    has_id: bool = False

    def document(self) -> dict[str, Any]:
        """Read the data as a JSON object; an empty one where it is none."""
        try:
            value = json.loads(self.data or "")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def mentions(self, *words: str) -> bool:
        """Whether one of the words stands in the data."""
        return self.data is not None and any(word in self.data for word in words)


class EventTooLarge(UpstreamFault):
    """An event exceeds the limit (bytes). `rest`: every byte that no event has carried yet."""

    code = "upstream_event_too_large"

    def __init__(self, limit: int, rest: bytes) -> None:
        super().__init__(
            f"the upstream sent an event of more than {limit} bytes; raise limits.event to allow it"
        )
        self.limit = limit
        self.rest = rest


class SseReader:
    """Cuts a byte stream into events; borders and values do not depend on the reads.

    An event ends with the first byte that ends its blank line. Behind a CR that byte is the CR:
    waiting for a possible LF would delay the event by a whole read, so such an LF opens the next
    event's `raw`, where it counts for nothing.
    """

    __slots__ = (
        "_after_cr", "_buffer", "_data", "_first", "_has_id", "_limit", "_line", "_name",
        "_overflow", "_scan", "_sought",
    )  # fmt: skip

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()  # everything since the last event's end
        self._line = 0  # where in it the current line begins
        self._scan = 0  # how far in it line ends were searched
        self._sought = 0  # the same for ends of events, where only LF ends lines
        self._after_cr = False
        self._first = True
        self._overflow = False
        self._reset()

    def _reset(self) -> None:
        self._data: list[bytes] = []
        self._name = b""
        self._has_id = False

    def feed(self, data: bytes) -> tuple[SseEvent, ...]:
        """Read more bytes; answers with the events that they complete.

        Raises `EventTooLarge` at the first event beyond the limit, once the events in front of
        it have been handed out: by this call if there are none, else by the next. From then on
        every call raises it, with the bytes that came since.
        """
        self._buffer += data
        events: list[SseEvent] = []
        if self._overflow:
            start = 0
        elif self._knows_lf_alone(data):
            start = self._cut_at_lf(events)
        else:
            self._sought = 0
            start = self._cut(events)
        if len(self._buffer) - start > self._limit:
            self._overflow = True
        if start:
            del self._buffer[:start]
            self._line -= start
            self._scan -= start
        if self._overflow and not events:
            raise EventTooLarge(self._limit, self.rest())
        return tuple(events)

    def parts(self, data: bytes) -> list[bytes] | None:
        """Read more bytes; gives what stands before the blank line of each event they complete.

        `feed` cuts the same events, but takes its time for each. None where that is needed (other
        line ends than LF, empty events, some that may be too large); then nothing was read.
        """
        buffer = self._buffer
        if self._first and not buffer and data[:1] not in (b"", _BOM[:1]):
            self._first = False  # no byte order mark comes now
        if self._overflow or self._line or self._after_cr or self._first or b"\r" in data:
            return None
        if len(buffer) + len(data) > self._limit:
            return None
        if buffer:
            if b"\n\n" not in buffer[-1:] + data:
                return None  # nothing is complete, and what is there need not be moved
            data = bytes(buffer) + data
        if b"\n\n\n" in data or data.startswith(b"\n"):
            return None
        parts = data.split(b"\n\n")
        rest = parts.pop()
        if rest or buffer:
            buffer[:] = rest
            self._scan = self._sought = 0
        return parts

    def tail(self) -> SseEvent | None:
        """Read what the end of the stream left unterminated, as if it were complete.

        Raises `EventTooLarge` where `feed` still owed it.
        """
        line = self._line
        raw = self.rest()
        if not raw:
            return None
        if self._overflow:
            raise EventTooLarge(self._limit, raw)
        for unread in raw[line:].split(b"\n"):
            self._read_line(unread)
        return self._event(raw)

    def rest(self) -> bytes:
        """Read no further: hand over every byte that no event has carried yet."""
        raw = bytes(self._buffer)
        self._buffer.clear()
        self._line = self._scan = self._sought = 0
        return raw

    def _knows_lf_alone(self, data: bytes) -> bool:
        """Whether only LF ends lines from the begin of the current event on, and none was read."""
        return not (self._line or self._after_cr or self._first) and b"\r" not in data

    def _cut_at_lf(self, events: list[SseEvent]) -> int:
        """Do what `_cut` does, in larger steps: no CR stands in the buffer, no line was read yet.

        That is the state at the begin of nearly every read, so it pays to have it.
        """
        buffer, start, sought = self._buffer, 0, self._sought
        while True:
            if buffer.startswith(b"\n", start):
                end = start + 1
            elif (blank := buffer.find(b"\n\n", sought)) >= 0:
                end = blank + 2
            else:
                break
            if end - start > self._limit:
                break
            events.append(self._whole_event(bytes(buffer[start:end])))
            start = sought = end
        self._line = self._scan = start
        self._sought = max(0, len(buffer) - start - 1)
        return start

    def _whole_event(self, raw: bytes) -> SseEvent:
        """Read an event of which no line was read yet, and whose lines end at LF."""
        if raw.startswith(_DATA) and raw.find(b"\n") == len(raw) - 2:
            return SseEvent(raw, raw[len(_DATA) : -2].decode("utf-8", "replace"))
        for line in raw.split(b"\n"):
            self._read_line(line)
        return self._event(raw)

    def _cut(self, events: list[SseEvent]) -> int:
        """Read all complete lines; the events go into `events`. Answers where the last ended."""
        buffer, start = self._buffer, 0
        lf = buffer.find(b"\n", self._scan)
        cr = buffer.find(b"\r", self._scan)
        while lf >= 0 or cr >= 0:
            end = cr if lf < 0 or 0 <= cr < lf else lf
            if end == cr:
                cr = buffer.find(b"\r", end + 1)
            else:
                lf = buffer.find(b"\n", end + 1)
            if self._ends_event(end):
                if end + 1 - start > self._limit:
                    break
                events.append(self._event(bytes(buffer[start : end + 1])))
                start = end + 1
        else:
            self._scan = len(buffer)
        return start

    def _ends_event(self, end: int) -> bool:
        """Take in the line end at `end`; true where it ends a blank line."""
        line, self._line = self._line, end + 1
        is_lf = self._buffer[end] == _LF
        if self._after_cr and end == line and is_lf:
            self._after_cr = False
            return False
        self._after_cr = not is_lf
        return self._read_line(bytes(self._buffer[line:end]))

    def _read_line(self, line: bytes) -> bool:
        """Take one line's field into the current event; true for a blank line."""
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if not line:
            return True
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value
        elif field == b"id":
            self._has_id = True
        return False

    def _event(self, raw: bytes) -> SseEvent:
        data = b"\n".join(self._data).decode("utf-8", "replace") if self._data else None
        name = self._name.decode("utf-8", "replace") or "message"
        event = SseEvent(raw, data, name, self._has_id)
        self._reset()
        return event


def event_of(part: bytes) -> SseEvent:
    """Read one of the events that `SseReader.parts` gives."""
    reader = SseReader()
    reader._first = False  # noqa: SLF001 - our own: no byte order mark begins it
    return reader._whole_event(part + b"\n\n")  # noqa: SLF001 - the same
