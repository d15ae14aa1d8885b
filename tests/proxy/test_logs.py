"""Logging: redacted, off the event loop, one line for each hit."""

from __future__ import annotations

import io
import logging
import threading
from typing import TextIO

from proxy.logs import log_hits, logging_to
from tests.support.audit_rows import a_hit


def test_log_hits_writes_one_line_a_hit_without_the_excerpt() -> None:
    """A line says what was done, by which rule and where."""
    stream = io.StringIO()
    with logging_to(stream):
        log_hits([a_hit(), a_hit("no-eval", "refuse", tool="edit", target_path="src/a b.ts")])
    first, second = stream.getvalue().splitlines()
    assert first.endswith(
        "INFO ttsr.trigger: ttsr_triggered action=interrupt rule=no-any "
        "rule_path=.omp/rules/no-any.md surface=text conversation=c1 turn=t1 attempt=1 "
        "agent=opencode model=m offset=7 outcome=reissued"
    )
    assert "action=refuse rule=no-eval" in second
    assert 'tool=edit path="src/a b.ts"' in second
    assert "const x" not in stream.getvalue()


def test_a_value_with_line_ends_stays_on_its_line() -> None:
    """What a model wrote cannot forge a log line."""
    stream = io.StringIO()
    with logging_to(stream):
        log_hits([a_hit(target_path="a\n2026 ERROR forged")])
    assert len(stream.getvalue().splitlines()) == 1


def test_credentials_are_masked_in_messages_arguments_and_tracebacks() -> None:
    """Whatever is logged by whomever, a credential does not come through."""
    stream = io.StringIO()
    log = logging.getLogger("somewhere")
    with logging_to(stream):
        log.warning("sent sk-abcdefghijklmnop and %s", "Bearer abcdefghijklmnop")
        try:
            int("https://user:hunter2@example.com/")
        except ValueError:
            log.exception("failed")
    text = stream.getvalue()
    assert "sent [masked] and Bearer [masked]" in text
    assert "ValueError: invalid literal" in text
    assert "https://[masked]example.com/" in text
    assert "hunter2" not in text


def test_the_level_is_in_force_inside_the_context_only() -> None:
    """Logging is set up for a run and taken down with it."""
    stream = io.StringIO()
    loggers = [logging.getLogger(name) for name in (None, "httpx", "asyncio")]
    before = [(log.level, list(log.handlers)) for log in loggers]
    with logging_to(stream, "warning"):
        logging.getLogger("somewhere").info("quiet")
    assert stream.getvalue() == ""
    assert [(log.level, list(log.handlers)) for log in loggers] == before


class Stuck(io.StringIO):
    """A pipe that nobody reads: writing waits until it is let go."""

    def __init__(self, free: threading.Event) -> None:
        super().__init__()
        self._free = free

    def write(self, text: str) -> int:
        self._free.wait(10)
        return super().write(text)


def test_a_stuck_stream_does_not_delay_whoever_logs() -> None:
    """Lines wait for the pipe in a thread; beyond the bound they are dropped and counted."""
    free = threading.Event()
    stream: TextIO = Stuck(free)
    log = logging.getLogger("somewhere")
    with logging_to(stream, waiting=10) as handler:
        for number in range(50):
            log.warning("line %d", number)
        assert 39 <= handler.dropped <= 40
        free.set()
    assert "line 0" in stream.getvalue()  # type: ignore[attr-defined]
