"""Bytes to server-sent events that keep their raw bytes; pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SseEvent:
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
