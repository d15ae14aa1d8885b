"""Waits for others without blaming them for what the event loop itself took too long for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

import anyio

T = TypeVar("T")

_SLICES = 10


def cancel_scope() -> anyio.CancelScope:
    """Make one of anyio's, where a loop runs: anyio would ask anew for each which kind that is."""
    return _kind_of_scope()()


@cache
def _kind_of_scope() -> type[anyio.CancelScope]:
    asyncio.get_running_loop()  # without one it would be another kind
    return type(anyio.CancelScope())


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Do `work`, at most `seconds` long; raises `TimeoutError` and gives it up behind that.

    Time is counted in slices, and a slice in which the loop was busy elsewhere is one slice
    however long it took: under load an answer that is already there is never taken for late.
    """
    task = asyncio.ensure_future(work)
    try:
        for _ in range(_SLICES):
            await asyncio.wait({task}, timeout=seconds / _SLICES)
            if task.done():
                return task.result()
        raise TimeoutError
    finally:
        task.cancel()
