"""Logging: set up once, off the event loop, every line redacted; one line for each hit."""

from __future__ import annotations

import json
import logging
import logging.handlers
import queue
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from proxy.masking import redact
from proxy.store import HitRecord

# Lines that may wait for a terminal or pipe that does not take them; the rest is dropped.
WAITING_LINES = 10_000
# How long the end may wait for lines that were logged before it.
STOP_SECONDS = 2.0
LEVELS = ("debug", "info", "warning", "error")

_BARE = re.compile(r"[\w./:@~+-]+\Z")
# These log what they send and receive; a request's content and headers are not for a log.
_QUIET = ("httpx", "httpcore", "sse_starlette", "aiosqlite", "hpack", "asyncio")

_Lines = queue.Queue[logging.LogRecord | None]

triggers = logging.getLogger("ttsr.trigger")


class RedactingFormatter(logging.Formatter):
    """Masks credentials in the finished text: message, arguments and traceback alike."""

    def format(self, record: logging.LogRecord) -> str:
        """Render the record without anything that has the form of a credential."""
        return redact(super().format(record))


class DroppingQueueHandler(logging.handlers.QueueHandler):
    """Hands lines to the writing thread; a full queue costs lines, never time."""

    dropped = 0

    def enqueue(self, record: logging.LogRecord) -> None:
        """Queue a line, or count it as dropped."""
        try:
            self.queue.put_nowait(record)
        except queue.Full:
            self.dropped += 1


@contextmanager
def logging_to(
    stream: TextIO | None = None, level: str = "info", *, waiting: int = WAITING_LINES
) -> Iterator[DroppingQueueHandler]:
    """Log to `stream` (standard error) inside the context; `level` is one of `LEVELS`.

    Whoever writes to a full pipe waits; here that is the thread, not the event loop.
    """
    lines: _Lines = queue.Queue(waiting)
    handler = DroppingQueueHandler(lines)
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    writer = threading.Thread(
        target=_write, args=(lines, logging.StreamHandler(stream)), daemon=True
    )
    root = logging.getLogger()
    levels = {root: level.upper()} | dict.fromkeys(map(logging.getLogger, _QUIET), "WARNING")
    root.addHandler(handler)
    writer.start()
    try:
        with _at_levels(levels):
            yield handler
    finally:
        root.removeHandler(handler)
        with suppress(queue.Full):
            lines.put(None, timeout=STOP_SECONDS)
            writer.join(STOP_SECONDS)


@contextmanager
def _at_levels(levels: Mapping[logging.Logger, str]) -> Iterator[None]:
    before = {log: log.level for log in levels}
    for log, level in levels.items():
        log.setLevel(level)
    try:
        yield
    finally:
        for log, number in before.items():
            log.setLevel(number)


def _write(lines: _Lines, handler: logging.Handler) -> None:
    while (line := lines.get()) is not None:
        handler.handle(line)


def log_hits(hits: Sequence[HitRecord]) -> None:
    """Log one line a hit; a listener of the audit. The excerpt stays in the audit."""
    for hit in hits:
        triggers.info("%s", _line(hit))


def _line(hit: HitRecord) -> str:
    facts: Mapping[str, object] = {
        "action": hit.action,
        "rule": hit.rule,
        "rule_path": hit.rule_path,
        "surface": hit.surface,
        "tool": hit.tool,
        "path": hit.target_path,
        "conversation": hit.conversation,
        "turn": hit.turn,
        "attempt": hit.attempt,
        "agent": hit.agent,
        "model": hit.model,
        "offset": hit.offset,
        "leaked": hit.leaked or None,
        "outcome": hit.outcome,
    }
    told = " ".join(f"{key}={_value(value)}" for key, value in facts.items() if value is not None)
    return f"ttsr_triggered {told}"


def _value(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if _BARE.match(text) else json.dumps(text)
