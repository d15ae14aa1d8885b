"""The audit's rows: hits and turns to columns and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from proxy.conversation import well_formed
from proxy.store import HitQuery, HitRecord, RuleCount, TurnRecord

_HIT_COLUMNS = tuple(field.name for field in fields(HitRecord) if field.name != "id")
_TURN_COLUMNS = tuple(field.name for field in fields(TurnRecord))
_LEAKED = _HIT_COLUMNS.index("leaked")


def recorded(
    connection: sqlite3.Connection, hits: Sequence[HitRecord], turns: Sequence[TurnRecord]
) -> tuple[int, ...]:
    """Write rows; returns the ids of `hits`."""
    ids = []
    for hit in hits:
        row = [getattr(hit, name) for name in _HIT_COLUMNS]
        ids.append(_inserted(connection, "hit", _HIT_COLUMNS, row))
    for turn in turns:
        row = [
            json.dumps([dict(used) if used is not None else None for used in turn.usage])
            if name == "usage"
            else getattr(turn, name)
            for name in _TURN_COLUMNS
        ]
        _inserted(connection, "turn", _TURN_COLUMNS, row)
    return tuple(ids)


def _inserted(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], row: Sequence[object]
) -> int:
    marks = ", ".join("?" * len(columns))
    # SQLite refuses lone surrogates, which a model can send and an excerpt can quote.
    values = [well_formed(value) if isinstance(value, str) else value for value in row]
    inserted = connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) RETURNING id",  # noqa: S608 - names of ours
        values,
    ).fetchone()
    return int(inserted[0])


def hits(connection: sqlite3.Connection, query: HitQuery) -> tuple[HitRecord, ...]:
    """Read hits newest first."""
    conditions = {
        "rule = ?": query.rule,
        "surface = ?": query.surface,
        "action = ?": query.action,
        "conversation = ?": query.conversation,
        "time >= ?": query.since,
        "id < ?": query.cursor,
    }
    asked = {condition: value for condition, value in conditions.items() if value is not None}
    where = f"WHERE {' AND '.join(asked)}" if asked else ""
    rows = connection.execute(
        f"SELECT {', '.join(_HIT_COLUMNS)}, id FROM hit {where} ORDER BY id DESC LIMIT ?",  # noqa: S608 - names of ours
        (*asked.values(), max(0, query.limit)),
    )
    return tuple(
        HitRecord(
            **dict(zip((*_HIT_COLUMNS, "id"), row, strict=True)) | {"leaked": bool(row[_LEAKED])}
        )
        for row in rows
    )


def counts(connection: sqlite3.Connection) -> tuple[RuleCount, ...]:
    """Read totals by rule and action."""
    rows = connection.execute(
        "SELECT rule, action, count(*) FROM hit GROUP BY rule, action ORDER BY rule, action"
    )
    return tuple(RuleCount(*row) for row in rows)


def turns(connection: sqlite3.Connection, limit: int) -> tuple[TurnRecord, ...]:
    """Read turns newest first."""
    rows = connection.execute(
        f"SELECT {', '.join(_TURN_COLUMNS)} FROM turn ORDER BY id DESC LIMIT ?",  # noqa: S608 - names of ours
        (max(0, limit),),
    )
    return tuple(_turn_in(dict(zip(_TURN_COLUMNS, row, strict=True))) for row in rows)


def _turn_in(row: dict[str, Any]) -> TurnRecord:
    cured = row["cured"]
    return TurnRecord(
        **row
        | {
            "usage": tuple(json.loads(row["usage"])),
            "cured": None if cured is None else bool(cured),
            "unledgered": bool(row["unledgered"]),
        }
    )
