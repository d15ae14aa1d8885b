"""Waits for others without blaming them for what the event loop itself took too long for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_SLICES = 10


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
