"""The file is made for its owner alone, and each fault has a sentence."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from proxy.store import StoreUnavailable
from proxy.store.sqlite.database import SCHEMA, Database, explained, must_reopen


def test_database_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """An older program does not touch what it does not understand."""
    database = Database(tmp_path / "ttsr.db", 0.1)
    with closing(database.connect(writes=True)) as connection:
        connection.execute("UPDATE schema_version SET version = ?", (SCHEMA + 1,))
    with pytest.raises(StoreUnavailable, match=r"newer ttsr.*upgrade ttsr"):
        database.connect(writes=True)


def test_database_of_another_program_is_refused(tmp_path: Path) -> None:
    """A wrong `db` setting does not add tables to someone else's file."""
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE song (name TEXT)")
    with pytest.raises(StoreUnavailable, match="another program"):
        Database(path, 0.1).connect(writes=True)


def test_database_made_under_a_lax_umask_is_still_private(tmp_path: Path) -> None:
    """The mode is ours, whatever the process allows."""
    before = os.umask(0)
    try:
        Database(tmp_path / "deep" / "ttsr.db", 0.1).connect(writes=True).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "deep" / "ttsr.db").stat().st_mode) == 0o600


def test_database_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    """A file found too open is narrowed."""
    path = tmp_path / "ttsr.db"
    path.touch(0o644)
    path.chmod(0o644)
    Database(path, 0.1).connect(writes=True).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_identity_follows_the_path(tmp_path: Path) -> None:
    """A file that was replaced is another one; no file is none."""
    database = Database(tmp_path / "ttsr.db", 0.1)
    assert database.identity() is None
    database.connect(writes=True).close()
    first = database.identity()
    database.path.rename(tmp_path / "moved.db")
    database.connect(writes=True).close()
    assert first not in {None, database.identity()}


def test_reading_connection_can_not_write(tmp_path: Path) -> None:
    """The reader is one in fact."""
    with (
        closing(Database(tmp_path / "ttsr.db", 0.1).connect(writes=False)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        connection.execute("DELETE FROM splice")


def test_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    """The message names the file and what must hold."""
    (tmp_path / "file").touch()
    database = Database(tmp_path / "file" / "ttsr.db", 0.1)
    with pytest.raises(OSError) as caught:
        database.connect(writes=True)
    message = str(explained(caught.value, database.path))
    assert str(database.path) in message
    assert "folder must exist and be writable" in message
    assert must_reopen(caught.value)


def test_unknown_fault_is_named_by_its_code(tmp_path: Path) -> None:
    """Content never shows: the text of the error is left out."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (secret TEXT UNIQUE)")
        connection.execute("INSERT INTO t VALUES ('sk-123')")
        with pytest.raises(sqlite3.IntegrityError) as caught:
            connection.execute("INSERT INTO t VALUES ('sk-123')")
    message = str(explained(caught.value, tmp_path))
    assert "SQLITE_CONSTRAINT" in message
    assert "sk-123" not in message
    assert not must_reopen(caught.value)


OPEN_AS_NOBODY = """
import pathlib, sqlite3, sys, os
sys.path.insert(0, os.getcwd())
from proxy.store.sqlite.database import Database, explained
os.setgid(65534); os.setuid(65534)
path = pathlib.Path(sys.argv[1])
try:
    Database(path, 0.1).connect(writes=True)
except (sqlite3.Error, OSError) as error:
    print(explained(error, path))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_file_without_write_permission_is_reported(tmp_path: Path) -> None:
    """The sentence says what must be made writable."""
    path = tmp_path / "ttsr.db"
    Database(path, 0.1).connect(writes=True).close()
    path.chmod(0o444)
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    answer = subprocess.run(
        [sys.executable, "-c", OPEN_AS_NOBODY, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "can't be opened" in answer.stdout
    assert "writable for this user" in answer.stdout
