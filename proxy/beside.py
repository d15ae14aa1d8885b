"""Work that may take a while: done at once where it is small, else beside the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

T = TypeVar("T")

LARGE = 1 << 20  # bytes that take some milliseconds to go through; a thread costs a tenth of one


async def beside(size: int, work: Callable[[], T]) -> T:
    """Do `work` on `size` bytes; a large one on a thread, so that other streams go on meanwhile."""
    return work() if size < LARGE else await to_thread.run_sync(work)
