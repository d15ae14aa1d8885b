"""Audit rows become columns and rows again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import fields
from pathlib import Path

from proxy.store import HitRecord, TurnRecord
from proxy.store.sqlite.database import Database


def test_tables_have_a_column_for_every_field(tmp_path: Path) -> None:
    """A field that is added to a record needs a column."""
    with closing(Database(tmp_path / "ttsr.db", 0.1).connect(writes=True)) as connection:
        for table, record in (("hit", HitRecord), ("turn", TurnRecord)):
            columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            assert columns - {"id"} == {field.name for field in fields(record)} - {"id"}
