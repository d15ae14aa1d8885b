"""Rows of the audit as JSON objects: what an answer and a live event show of them; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from proxy.store import HitRecord, TurnRecord


def hit_row(hit: HitRecord) -> dict[str, Any]:
    """One hit of `/audit/hits`. `time` is Unix time in seconds."""
    return {"id": hit.id} | {key: value for key, value in asdict(hit).items() if key != "id"}


def live_row(hit: HitRecord) -> dict[str, Any]:
    """Show a hit that no store has numbered yet."""
    return {key: value for key, value in asdict(hit).items() if key != "id"}


def turn_row(turn: TurnRecord) -> dict[str, Any]:
    """One turn of `/audit/turns`; `usage` has an entry an attempt, null where none was sent."""
    return asdict(turn) | {
        "usage": [None if usage is None else dict(usage) for usage in turn.usage]
    }


def encoded(value: Mapping[str, Any]) -> str:
    """JSON in ASCII on one line: whatever a model wrote, it can be sent and split."""
    return json.dumps(value, separators=(",", ":"))
