"""An operation on a lane happens whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from proxy.store import StoreUnavailable
from proxy.store.sqlite.database import Database
from proxy.store.sqlite.lane import Lane

pytestmark = pytest.mark.anyio


def write_then_fail(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO meta VALUES ('half', x'00')")
    raise ZeroDivisionError


def count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM meta").fetchone()[0])


async def test_lane_takes_back_what_a_failed_operation_wrote(tmp_path: Path) -> None:
    """Our own faults pass through as they are, and leave no open transaction."""
    lane = Lane(Database(tmp_path / "ttsr.db", 0.1), writes=True)
    with pytest.raises(ZeroDivisionError):
        await lane.run(write_then_fail)
    assert await lane.run(count) == 0
    await lane.close()


async def test_lane_maps_faults_of_the_database(tmp_path: Path) -> None:
    """Callers see one kind of error."""
    lane = Lane(Database(tmp_path / "ttsr.db", 0.1), writes=False)
    with pytest.raises(StoreUnavailable, match="read-only"):
        await lane.run(lambda connection: connection.execute("DELETE FROM meta"))
    assert await lane.run(count) == 0
    await lane.close()
