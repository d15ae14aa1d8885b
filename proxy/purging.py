"""Deletes what the database remembers, on someone's order rather than by `retention`."""

from __future__ import annotations

from pathlib import Path

import anyio

from proxy.errors import CannotRun
from proxy.quantities import duration
from proxy.store import StoreUnavailable
from proxy.store.sqlite import SqliteStore


def age_of(written: str) -> float:
    """Seconds of an age such as `7d`; raises CannotRun for what is none."""
    try:
        return float(str(duration(written)))
    except ValueError as problem:
        raise CannotRun(f"--older-than {written} cannot be used: it {problem}.") from None


async def purge(path: Path, before: float) -> int:
    """Delete what turns left, and audit rows, older than `before` (Unix time); gives their number.

    Raises CannotRun where there is no database, or it cannot be written.
    """
    if not await anyio.Path(path).is_file():
        raise CannotRun(f"there is no database {path}; name the one that is meant with --db.")
    try:
        store = await SqliteStore.open(path)
    except StoreUnavailable as problem:
        raise CannotRun(f"the database {path} cannot be opened: {problem}") from None
    try:
        return await store.purge(before)
    except StoreUnavailable as problem:
        raise CannotRun(f"the database {path} cannot be purged: {problem}") from None
    finally:
        await store.close()
