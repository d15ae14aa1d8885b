"""Audit rows for tests: plausible values, each of which can be replaced."""

from __future__ import annotations

from proxy.store import HitRecord, TurnRecord


def a_hit(rule: str = "no-any", action: str = "interrupt", **values: object) -> HitRecord:
    """One hit; any field can be given by name."""
    fields: dict[str, object] = {
        "time": 1000.0,
        "conversation": "c1",
        "turn": "t1",
        "attempt": 1,
        "agent": "opencode",
        "model": "m",
        "rule": rule,
        "rule_path": f".omp/rules/{rule}.md",
        "surface": "text",
        "tool": None,
        "target_path": None,
        "action": action,
        "excerpt": "const x: any",
        "offset": 7,
        "leaked": False,
        "outcome": "reissued",
    }
    return HitRecord(**(fields | values))  # type: ignore[arg-type]


def a_turn(turn: str = "t1", **values: object) -> TurnRecord:
    """One turn; any field can be given by name."""
    fields: dict[str, object] = {
        "time": 1000.0,
        "conversation": "c1",
        "turn": turn,
        "agent": "opencode",
        "model": "m",
        "workspace": "/w",
        "attempts": 2,
        "withheld_characters": 12,
        "usage": ({"total_tokens": 5}, None),
        "outcome": "completed",
        "cured": True,
    }
    return TurnRecord(**(fields | values))  # type: ignore[arg-type]
