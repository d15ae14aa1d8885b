"""The database file: made for its owner alone, its schema, and what its errors mean to a person."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proxy.store import StoreUnavailable

SCHEMA = 1

_OWNER_ONLY = 0o600
_OPENING = 2.0  # seconds to wait while another process makes or upgrades the file
_TABLES = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE splice (
  id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, time REAL NOT NULL,
  places TEXT NOT NULL, payload BLOB NOT NULL
);
CREATE TABLE place (
  tenant TEXT NOT NULL, key TEXT NOT NULL,
  splice INTEGER NOT NULL REFERENCES splice (id) ON DELETE CASCADE,
  PRIMARY KEY (tenant, key, splice)
) WITHOUT ROWID;
CREATE TABLE hit (
  id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, conversation TEXT NOT NULL,
  turn TEXT NOT NULL, attempt INTEGER NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL,
  rule TEXT NOT NULL, rule_path TEXT NOT NULL, surface TEXT NOT NULL, tool TEXT,
  target_path TEXT, action TEXT NOT NULL, excerpt TEXT NOT NULL, offset INTEGER NOT NULL,
  leaked INTEGER NOT NULL, outcome TEXT NOT NULL
);
CREATE TABLE turn (
  id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, conversation TEXT NOT NULL,
  turn TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, workspace TEXT NOT NULL,
  attempts INTEGER NOT NULL, withheld_characters INTEGER NOT NULL, usage TEXT NOT NULL,
  outcome TEXT NOT NULL, cured INTEGER, unledgered INTEGER NOT NULL
);
CREATE INDEX splice_time ON splice (time);
CREATE INDEX place_splice ON place (splice);
CREATE INDEX hit_time ON hit (time);
CREATE INDEX hit_rule ON hit (rule, action);
CREATE INDEX hit_conversation ON hit (conversation);
CREATE INDEX turn_time ON turn (time);
"""
_BROKEN = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
    }
)
_DAMAGED = (
    "is damaged, or no SQLite database; move it away, and a new one is made"
    " (what was injected earlier is then forgotten), or point `db` at another file"
)
_MEANINGS = {
    sqlite3.SQLITE_BUSY: "is locked by another process; end what holds it (a backup, a shell)",
    sqlite3.SQLITE_LOCKED: "is locked by another process; end what holds it (a backup, a shell)",
    sqlite3.SQLITE_READONLY: "is read-only; make the file and its folder writable for this user",
    sqlite3.SQLITE_PERM: "may not be written; make the file and its folder writable for this user",
    sqlite3.SQLITE_FULL: "has no room left; free space on its disk, or run `ttsr purge`",
    sqlite3.SQLITE_CANTOPEN: "can't be opened; its folder must exist and be writable",
    sqlite3.SQLITE_IOERR: "can't be read or written (input/output error); check its disk",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}


@dataclass(frozen=True, slots=True)
class Database:
    """One file that may be opened by several connections; `busy`: seconds to wait for a lock."""

    path: Path
    busy: float

    def connect(self, *, writes: bool) -> sqlite3.Connection:
        """Open a connection for one thread, making file and schema where they are missing.

        Raises `sqlite3.Error`, `OSError`, or `StoreUnavailable` for a schema not known here.
        """
        self._make_file()
        connection = sqlite3.connect(
            self.path, timeout=_OPENING, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
            connection.execute(f"PRAGMA busy_timeout = {round(self.busy * 1000)}")
            connection.execute(f"PRAGMA query_only = {int(not writes)}")
        except BaseException:
            connection.close()
            raise
        return connection

    def identity(self) -> tuple[int, int] | None:
        """Tell which file the path leads to now; None where it leads to none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _make_file(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite gives -wal and -shm the mode of the file itself.
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY)
        try:
            if stat.S_IMODE(os.fstat(descriptor).st_mode) & ~_OWNER_ONLY:
                with suppress(PermissionError):  # another user's file, lent to this one
                    os.fchmod(descriptor, _OWNER_ONLY)
        finally:
            os.close(descriptor)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        version = self._version(connection)
        if version is None:
            connection.execute("BEGIN IMMEDIATE")
            version = self._version(connection)
            if version is None:
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                connection.execute("INSERT INTO schema_version VALUES (?)", (SCHEMA,))
                version = SCHEMA
            connection.execute("COMMIT")
        if version != SCHEMA:
            raise StoreUnavailable(
                f"the database {self.path} was written by a newer ttsr (schema {version}, this one"
                f" knows {SCHEMA}); upgrade ttsr, or point `db` at another file"
            )

    def _version(self, connection: sqlite3.Connection) -> int | None:
        """Read the schema's version; None for an empty database."""
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if "schema_version" in tables:
            return int(connection.execute("SELECT max(version) FROM schema_version").fetchone()[0])
        if tables:
            raise StoreUnavailable(
                f"the database {self.path} belongs to another program; point `db` at another file"
            )
        return None


def must_reopen(error: Exception) -> bool:
    """Tell whether a connection is no use after this error, even once the cause is gone."""
    return isinstance(error, OSError) or _primary_code(error) in _BROKEN


def explained(error: Exception, path: Path) -> StoreUnavailable:
    """Say what happened to the database and what to do; content never shows."""
    if isinstance(error, OSError):
        return StoreUnavailable(
            f"the database {path} can't be opened ({error.strerror}); its folder must exist and"
            " be writable for this user, or point `db` at another file"
        )
    meaning = _MEANINGS.get(_primary_code(error))
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return StoreUnavailable(f"the database {path} {meaning or 'refused the operation'} ({name})")


def _primary_code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", -1)) & 0xFF
