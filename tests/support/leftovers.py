"""What a test leaves behind in its process for those that run after it: it must be nothing.

Otherwise whether a test passes depends on which ran before it. Filters of warnings are not looked
at, as pytest itself puts them back behind each test.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_VARIABLES_OF_OTHERS = frozenset(
    {
        "PYTEST_CURRENT_TEST",  # each phase of a test has a value of its own
        "TIKTOKEN_CACHE_DIR",  # litellm's, from its import on
    }
)
# uvicorn itself shuts it up whenever a server is made, always in the same way.
_OF_UVICORN = frozenset({"uvicorn.access"})
# Not SIGALRM: pytest-timeout's.
_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGPIPE,
    signal.SIGCHLD,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_POOLS_OF_OTHERS = ("litellm-logging",)
_ABSENT = "absent"


class SharedState:
    """What all tests of this process share, as it was when this was made."""

    def __init__(self) -> None:
        self._values = dict(_values())
        self._loggers = dict(_loggers())

    def changes(self) -> list[str]:
        """Say what is other than it was, a line each.

        A logger that is new does not count: libraries set up theirs when they are first used.
        """
        loggers = {name: now for name, now in _loggers() if name in self._loggers}
        return [
            *_differences(self._values, dict(_values())),
            *(f"logger {line}" for line in _differences(self._loggers, loggers)),
        ]


class Running:
    """The threads and processes of this process, as they were when this was made.

    `patience`: seconds for those that are about to end.
    """

    def __init__(self, patience: float = 5.0) -> None:
        self._patience = patience
        self._before = set(_running())

    def left(self) -> list[str]:
        """Name what runs that did not, and goes on; pools of libraries go on by intent."""
        new = [one for one in _running() if one not in self._before]
        if new:
            gc.collect()  # a pool that nobody has any more ends its threads
        deadline = time.monotonic() + self._patience
        for one in new:
            one.join(max(0.0, deadline - time.monotonic()))
        return [one.name for one in new if one.is_alive()]


@contextmanager
def loggers_kept() -> Iterator[None]:
    """Put levels, handlers and filters of the loggers that there are back at the end."""
    before = [
        (log, log.level, log.disabled, log.propagate, log.handlers[:], log.filters[:])
        for log in _every_logger()
    ]
    try:
        yield
    finally:
        for log, level, disabled, propagate, handlers, filters in before:
            log.setLevel(level)
            log.disabled, log.propagate = disabled, propagate
            log.handlers[:], log.filters[:] = handlers, filters


def _differences(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        was, has_become = before.get(name, _ABSENT), now.get(name, _ABSENT)
        if was != has_become:
            yield f"{name}: was {was!r}, is {has_become!r}"


def _running() -> Iterator[threading.Thread | multiprocessing.process.BaseProcess]:
    yield from (
        each for each in threading.enumerate() if not each.name.startswith(_POOLS_OF_OTHERS)
    )
    yield from multiprocessing.active_children()


def _values() -> Iterator[tuple[str, object]]:
    for name in os.environ.keys() - _VARIABLES_OF_OTHERS:
        # Its hash, since the value may be a secret.
        yield f"environment variable {name}", hash(os.environ.get(name))
    yield "working directory", _working_directory()
    yield "umask", _umask()
    for number in _SIGNALS:
        yield f"handler of {number.name}", signal.getsignal(number)
    yield "event loop policy", _event_loop_policy()
    yield "logging.disable", logging.root.manager.disable
    yield "import path", tuple(sys.path)
    yield "sys.excepthook", sys.excepthook
    yield "threading.excepthook", threading.excepthook
    yield "recursion limit", sys.getrecursionlimit()
    yield "garbage collection", (gc.isenabled(), gc.get_threshold())
    yield "default time limit of sockets", socket.getdefaulttimeout()


def _event_loop_policy() -> str | None:
    """Name what somebody put in: asking asyncio for it would make the default one."""
    policy = asyncio.events._event_loop_policy
    name = type(policy).__name__
    return None if policy is None or "Default" in name else name


def _working_directory() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "deleted"


def _umask() -> int:
    # There is no other way to read it; what another thread makes meanwhile is the more private.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _loggers() -> Iterator[tuple[str, object]]:
    for logger in _every_logger():
        if logger.name not in _OF_UVICORN:
            yield (
                logger.name,
                (
                    f"level {logger.level}",
                    logger.disabled and "disabled",
                    logger.propagate or "propagates nothing",
                    *logger.handlers,
                    *logger.filters,
                ),
            )


def _every_logger() -> Iterator[logging.Logger]:
    known = logging.root.manager.loggerDict.copy().values()
    yield logging.root
    yield from (logger for logger in known if isinstance(logger, logging.Logger))
