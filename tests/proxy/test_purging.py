from __future__ import annotations

from pathlib import Path

import pytest

from proxy.errors import CannotRun
from proxy.purging import age_of, purge
from proxy.store import HitQuery
from proxy.store.sqlite import SqliteStore
from tests.support.audit_rows import a_hit

pytestmark = pytest.mark.anyio


async def test_old_rows_go_and_new_ones_stay(tmp_path: Path) -> None:
    """What is older than the moment given is deleted, and counted."""
    path = tmp_path / "ttsr.db"
    store = await SqliteStore.open(path)
    await store.record([a_hit(time=100.0), a_hit(time=300.0)], [])
    await store.close()
    assert await purge(path, 200.0) == 1
    store = await SqliteStore.open(path)
    assert [hit.time for hit in await store.hits(HitQuery())] == [300.0]
    await store.close()


async def test_missing_or_foreign_database_is_told(tmp_path: Path) -> None:
    """Nothing is created on the way, and the message says what to do."""
    missing = tmp_path / "none.db"
    with pytest.raises(CannotRun, match="--db"):
        await purge(missing, 1.0)
    assert not missing.exists()
    foreign = tmp_path / "other.db"
    foreign.write_text("no database " * 100)
    with pytest.raises(CannotRun, match="cannot be opened"):
        await purge(foreign, 1.0)


def test_ages_are_durations() -> None:
    """As in the settings; anything else names what is allowed."""
    assert age_of("7d") == 604800.0
    assert age_of("0") == 0.0
    with pytest.raises(CannotRun, match="a duration such as"):
        age_of("soon")
