"""Events of ours between those of an upstream, written so that every line reader finds them."""

from __future__ import annotations

from proxy.wire.openai.chunk import JsonObject, written

DONE = b"data: [DONE]\n\n"


class Outgoing:
    """What of the stream's form depends on the events that went out before."""

    __slots__ = ("_ids", "_lacks_lf")

    def __init__(self) -> None:
        self._ids = False  # an `id` field went out
        self._lacks_lf = False

    def passed(self, raw: bytes, *, has_id: bool) -> None:
        """Note events of an upstream that go out as they came. `has_id`: one has an `id` field."""
        self._lacks_lf = raw.endswith(b"\r\n\r")
        self._ids = self._ids or has_id

    def event(self, chunk: JsonObject) -> bytes:
        """Write an event of ours behind what went out.

        An event that ends in CRLF is over at the CR; its LF comes with the next one, which may
        have been withheld. Readers that look for LF alone would miss our event without it.
        """
        lf, self._lacks_lf = b"\n" if self._lacks_lf else b"", False
        return lf + written(chunk)

    def error(self, message: str, code: str) -> bytes:
        """Write an error of ours; no end mark follows it."""
        return self.event({"error": {"message": message, "type": "ttsr_error", "code": code}})

    def keep_alive(self) -> bytes:
        """Make a comment that no client takes for an event.

        Where an `id` field went out, some clients dispatch an empty event at the blank line
        behind a comment, so it gets none there.
        """
        return b": keep-alive\n" if self._ids else b": keep-alive\n\n"
