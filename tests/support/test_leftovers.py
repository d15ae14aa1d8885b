"""The watch over what a test leaves behind sees each kind of it."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable

import pytest

from tests.support.leftovers import Running, SharedState, loggers_kept

LOGGER = logging.getLogger("tests.leftovers")
Patch = pytest.MonkeyPatch
PATCHED: dict[str, Callable[[Patch], object]] = {
    "environment variable LEFT": lambda patch: patch.setenv("LEFT", "1"),
    "environment variable PATH": lambda patch: patch.delenv("PATH"),
    "working directory": lambda patch: patch.chdir(os.sep),
    "event loop policy": lambda patch: patch.setattr(asyncio.events, "_event_loop_policy", 1),
    "import path": lambda patch: patch.setattr(sys, "path", ["/left"]),
    "sys.excepthook": lambda patch: patch.setattr(sys, "excepthook", print),
    "threading.excepthook": lambda patch: patch.setattr(threading, "excepthook", print),
    "logging.disable": lambda patch: patch.setattr(logging.root.manager, "disable", 50),
    "logger root": lambda patch: patch.setattr(logging.root, "handlers", []),
    f"logger {LOGGER.name}": lambda patch: patch.setattr(LOGGER, "disabled", True),
}


def _named(before: SharedState) -> list[str]:
    return [line.partition(":")[0] for line in before.changes()]


@pytest.mark.parametrize("what", PATCHED)
def test_change_is_named(what: str, monkeypatch: Patch) -> None:
    """By what it is a change of, and by nothing else; put back, it is none."""
    before = SharedState()
    PATCHED[what](monkeypatch)
    found = _named(before)
    monkeypatch.undo()
    assert found == [what]
    assert not _named(before)


def test_changes_of_the_interpreter_are_named() -> None:
    """Its settings, and the system's for its process."""
    before = SharedState()
    mask = os.umask(0)
    limit = sys.getrecursionlimit()
    handler = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    sys.setrecursionlimit(limit + 1)
    socket.setdefaulttimeout(60)
    gc.disable()
    try:
        found = _named(before)
    finally:
        gc.enable()
        socket.setdefaulttimeout(None)
        sys.setrecursionlimit(limit)
        signal.signal(signal.SIGUSR1, handler)
        os.umask(mask)
    assert found == [
        "default time limit of sockets",
        "garbage collection",
        "handler of SIGUSR1",
        "recursion limit",
        "umask",
    ]
    assert not _named(before)


def test_thread_that_goes_on_is_named_and_one_that_ends_is_not() -> None:
    """A thread gets a while to end in."""
    before = Running(patience=1)
    told = threading.Event()
    thread = threading.Thread(target=told.wait, name="left")
    thread.start()
    try:
        assert before.left() == ["left"]
    finally:
        told.set()
    assert not before.left()


def test_new_loggers_do_not_count() -> None:
    """A library that is first used in a test sets up its own."""
    before = SharedState()
    logging.getLogger("tests.leftovers.new").setLevel(logging.ERROR)
    assert not before.changes()


def test_loggers_are_kept_from_what_a_library_does_to_them() -> None:
    """Whatever it is, and whose they are."""
    before = SharedState()
    with loggers_kept():
        LOGGER.setLevel(logging.ERROR)
        LOGGER.addFilter(logging.Filter("other"))
        LOGGER.addHandler(logging.NullHandler())
        LOGGER.disabled, LOGGER.propagate = True, False
        assert before.changes()
    assert not before.changes()
