"""Hypothesis profiles, the loopback guard, and the fixtures that every test may ask for."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.leftovers import Running, SharedState
from tests.support.upstream import ScriptedUpstream

# In CI the examples are the same at every run, so that a red build is the change's own fault;
# at a desk, and in the deep profile, they are new each time.
settings.register_profile(
    "fast", max_examples=60, deadline=None, derandomize=bool(os.environ.get("CI"))
)
settings.register_profile(
    "deep", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

_outside: list[str] = []


def _watch_connects(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        sock, address = arguments
        if sock.family in {socket.AF_INET, socket.AF_INET6} and not _is_loopback(address[0]):
            _outside.append(str(address[0]))
            raise ConnectionRefusedError(f"a test may not connect to {address[0]}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


sys.addaudithook(_watch_connects)


@pytest.fixture(autouse=True)
def _loopback_only() -> Any:
    """Fail a test that connected, or tried to, anywhere but to this machine."""
    _outside.clear()
    yield
    assert not _outside, f"connected outside loopback: {_outside}"


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Any:
    """Fail a test that leaves the process other than it was: the next one would find it so."""
    before = SharedState()
    yield
    changes = before.changes()
    assert not changes, "left behind:\n" + "\n".join(changes)


@pytest.fixture(autouse=True, scope="module")
def _nothing_left_running() -> Any:
    """Fail a file that leaves threads or processes running; what its tests share ends with it."""
    before = Running()
    yield
    left = before.left()
    assert not left, f"still running: {left}"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    """Run a scripted upstream."""
    async with ScriptedUpstream() as running:
        yield running
