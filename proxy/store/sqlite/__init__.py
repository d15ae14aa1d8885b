"""The default store: one SQLite file in WAL mode, shared by any number of local processes.

One thread writes, one reads the ledger and one the audit, each with its own connection, so that a
turn never waits for someone who reads a long audit. An operation is one function on its thread and
one transaction: a caller that stops waiting never leaves one half done.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from proxy.store import (
    HitQuery,
    HitRecord,
    RuleCount,
    SplicePlace,
    StoredSplice,
    StoreUnavailable,
    TurnRecord,
)
from proxy.store.sqlite import rows
from proxy.store.sqlite.database import Database
from proxy.store.sqlite.lane import Lane

BUSY = 0.25  # seconds to wait for another process's write

_PURGED_AT_ONCE = 500  # rows a transaction, so that turns may write in between


class SqliteStore:
    """Ledger and audit in one file; see `proxy.store` for what each call promises."""

    def __init__(self, database: Database) -> None:
        self._writer = Lane(database, writes=True)
        self._reader = Lane(database, writes=False)
        self._audit = Lane(database, writes=False)

    @classmethod
    async def open(cls, path: Path, *, busy: float = BUSY) -> SqliteStore:
        """Open or make the database; raises `StoreUnavailable` if it can't serve."""
        store = cls(Database(path, busy))
        try:
            await store._writer.run(_touch)
        except StoreUnavailable:
            await store.close()
            raise
        return store

    async def find(self, tenant: str, keys: Sequence[str]) -> Sequence[StoredSplice]:
        """Every splice of the tenant that has one of `keys`, oldest first, in one read."""
        if not keys:
            return ()
        return await self._reader.run(lambda connection: _found(connection, tenant, keys))

    async def append(
        self, tenant: str, places: Sequence[SplicePlace], payload: bytes, now: float
    ) -> int:
        """Store a splice durably and return its id."""
        return await self._writer.run(
            lambda connection: _appended(connection, tenant, places, payload, now)
        )

    async def amend(self, tenant: str, splice: int, payload: bytes) -> None:
        """Replace a splice's payload; one that was purged meanwhile stays away."""
        await self._writer.run(
            lambda connection: connection.execute(
                "UPDATE splice SET payload = ? WHERE id = ? AND tenant = ?",
                (payload, splice, tenant),
            )
        )

    async def record(self, hits: Sequence[HitRecord], turns: Sequence[TurnRecord]) -> Sequence[int]:
        """Write rows in one transaction; returns the ids of `hits`, in order."""
        if not hits and not turns:
            return ()
        return await self._writer.run(lambda connection: rows.recorded(connection, hits, turns))

    async def hits(self, query: HitQuery) -> Sequence[HitRecord]:
        """Rows newest first, at most `query.limit`."""
        return await self._audit.run(lambda connection: rows.hits(connection, query))

    async def counts(self) -> Sequence[RuleCount]:
        """Totals by rule and action."""
        return await self._audit.run(rows.counts)

    async def turns(self, limit: int) -> Sequence[TurnRecord]:
        """Newest turns first."""
        return await self._audit.run(lambda connection: rows.turns(connection, limit))

    async def ready(self) -> bool:
        """Tell whether a write and a read would work now."""
        try:
            await self._writer.run(_touch)
            await self._reader.run(lambda connection: connection.execute("SELECT 1").fetchone())
        except StoreUnavailable:
            return False
        return True

    async def secret(self) -> bytes:
        """Read the installation's random secret (32 bytes), made on first use."""
        return await self._writer.run(_secret)

    async def purge(self, before: float) -> int:
        """Delete splices and audit rows older than `before`; returns how many rows went."""
        purged = 0
        for table in ("splice", "hit", "turn"):
            while gone := await self._writer.run(_purge_of(table, before)):
                purged += gone
        await self._writer.run(_checkpoint, transaction=False)
        return purged

    async def close(self) -> None:
        """Finish what is queued and close the connections."""
        for lane in (self._reader, self._audit, self._writer):
            await lane.close()


def _found(
    connection: sqlite3.Connection, tenant: str, keys: Sequence[str]
) -> tuple[StoredSplice, ...]:
    # CROSS JOIN keeps the order of the two: one search a key, and no list of keys is made first.
    rows = connection.execute(
        "SELECT id, places, payload FROM splice WHERE id IN ("
        " SELECT place.splice FROM json_each(?) AS asked"
        " CROSS JOIN place ON place.tenant = ? AND place.key = asked.value)"
        " ORDER BY id",
        (json.dumps(list(keys)), tenant),
    )
    return tuple(StoredSplice(row[0], _places_in(row[1]), row[2]) for row in rows)


def _appended(
    connection: sqlite3.Connection,
    tenant: str,
    places: Sequence[SplicePlace],
    payload: bytes,
    now: float,
) -> int:
    splice = connection.execute(
        "INSERT INTO splice (tenant, time, places, payload) VALUES (?, ?, ?, ?) RETURNING id",
        (tenant, now, json.dumps([[place.key, *place.run] for place in places]), payload),
    ).fetchone()[0]
    connection.executemany(
        "INSERT OR IGNORE INTO place (tenant, key, splice) VALUES (?, ?, ?)",
        [(tenant, place.key, splice) for place in places],
    )
    return int(splice)


def _places_in(places: str) -> tuple[SplicePlace, ...]:
    return tuple(SplicePlace(key, tuple(run)) for key, *run in json.loads(places))


def _touch(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('touched', x'01')")


def _secret(connection: sqlite3.Connection) -> bytes:
    connection.execute(
        "INSERT OR IGNORE INTO meta (name, value) VALUES ('secret', ?)", (secrets.token_bytes(32),)
    )
    return bytes(connection.execute("SELECT value FROM meta WHERE name = 'secret'").fetchone()[0])


def _purge_of(table: str, before: float) -> Callable[[sqlite3.Connection], int]:
    oldest = f"SELECT id FROM {table} WHERE time < ? LIMIT ?"  # noqa: S608 - a name of ours

    def purge(connection: sqlite3.Connection) -> int:
        return connection.execute(
            f"DELETE FROM {table} WHERE id IN ({oldest})",  # noqa: S608 - a name of ours
            (before, _PURGED_AT_ONCE),
        ).rowcount

    return purge


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
