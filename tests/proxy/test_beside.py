from __future__ import annotations

import threading

import pytest

from proxy.beside import LARGE, beside

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("size", "at_once"), [(0, True), (LARGE - 1, True), (LARGE, False)])
async def test_only_large_work_leaves_the_loop(size: int, at_once: bool) -> None:  # noqa: FBT001 - a case's value
    """Small work pays for no thread; what takes long lets other streams go on."""
    thread = await beside(size, threading.get_ident)
    assert (thread == threading.get_ident()) == at_once


@pytest.mark.parametrize("size", [0, LARGE])
async def test_faults_of_the_work_come_back(size: int) -> None:
    """Wherever it was done, what it raises is raised."""
    with pytest.raises(ZeroDivisionError):
        await beside(size, lambda: 1 // 0)
