"""One thread with one connection: every operation is a function, run whole or not at all."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from proxy.store import StoreUnavailable
from proxy.store.sqlite.database import Database, explained, must_reopen

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Lane:
    """One thread with one connection, opened on first use and again after it went bad."""

    def __init__(self, database: Database, *, writes: bool) -> None:
        self._database = database
        self._writes = writes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ttsr-sqlite")
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._closed = False

    async def run(self, work: Work[T], *, transaction: bool = True) -> T:
        """Do `work` on the thread; raises `StoreUnavailable` where the database fails it."""
        if self._closed:
            raise StoreUnavailable(f"the database {self._database.path} was closed")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._do, work, transaction)

    async def close(self) -> None:
        """Wait for the work in hand and close; later calls are refused."""
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
            self._thread.shutdown(wait=False)

    def _do(self, work: Work[T], transaction: bool) -> T:  # noqa: FBT001 - run_in_executor passes no names
        try:
            connection = self._opened()
            if not (self._writes and transaction):
                return work(connection)
            return _in_transaction(connection, work)
        except (sqlite3.Error, OSError) as error:
            if must_reopen(error):
                self._drop()
            raise explained(error, self._database.path) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self._database.identity() != self._identity:
            self._drop()  # the file was moved or deleted: what we wrote there would be lost
        if self._connection is None:
            self._connection = self._database.connect(writes=self._writes)
            self._identity = self._database.identity()
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _in_transaction(connection: sqlite3.Connection, work: Work[T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result
