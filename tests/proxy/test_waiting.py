"""How long is waited for others, whatever the event loop does meanwhile."""

from __future__ import annotations

import asyncio
import threading
import time

import anyio
import pytest

from proxy.waiting import cancel_scope, within

pytestmark = pytest.mark.anyio


async def test_within_hands_over_the_result() -> None:
    """Of work that is in time."""

    async def work() -> str:
        return "done"

    assert await within(1, work()) == "done"


async def test_within_passes_a_fault_on() -> None:
    """As the work raised it."""

    async def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await within(1, work())


async def test_within_gives_up_late_work() -> None:
    """It is cancelled, and the caller told."""
    given_up = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()

    with pytest.raises(TimeoutError):
        await within(0.02, work())
    await asyncio.wait_for(given_up.wait(), 1)


async def test_within_leaves_with_its_caller() -> None:
    """Work that nobody waits for any more is cancelled too."""
    begun, given_up = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()

    caller = asyncio.ensure_future(within(60, work()))
    await begun.wait()
    caller.cancel()
    await asyncio.wait_for(given_up.wait(), 1)


async def test_within_does_not_count_what_the_loop_was_busy_with() -> None:
    """A thread that answers at once was in time, however late the loop can look."""
    loop, answered = asyncio.get_running_loop(), threading.Event()

    def answer() -> str:
        answered.set()
        return "done"

    async def work() -> str:
        reply = loop.run_in_executor(None, answer)
        loop.call_soon(_busy, answered)
        return await reply

    assert await within(0.05, work()) == "done"


def _busy(answered: threading.Event) -> None:
    """Keep the loop from everything else until the answer is there and the time is long over."""
    answered.wait(5)
    over = time.monotonic() + 0.2
    while time.monotonic() < over:
        pass


async def test_cancel_scope_is_one_of_anyios() -> None:
    """It cancels what runs in it, and may stand inside another one."""
    with anyio.CancelScope() as outer:
        with cancel_scope() as inner:
            assert type(inner) is type(anyio.CancelScope())
            inner.cancel()
            await anyio.sleep_forever()
        assert inner.cancelled_caught
        assert not outer.cancel_called
