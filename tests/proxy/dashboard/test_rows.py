"""Rows as JSON objects: their keys are a promise to whoever reads the audit."""

from __future__ import annotations

import json
from dataclasses import replace

from proxy.dashboard.rows import encoded, hit_row, live_row, turn_row
from tests.support.audit_rows import a_hit, a_turn


def test_hit_row_has_all_columns_with_the_id_first() -> None:
    """The columns of a hit."""
    row = hit_row(replace(a_hit(), id=5))
    assert list(row) == [
        "id", "time", "conversation", "turn", "attempt", "agent", "model", "rule", "rule_path",
        "surface", "tool", "target_path", "action", "excerpt", "offset", "leaked", "outcome",
    ]  # fmt: skip
    assert row["id"] == 5
    assert live_row(a_hit()) == {key: value for key, value in row.items() if key != "id"}


def test_turn_row_shows_usage_by_attempt() -> None:
    """An attempt without usage is null, not missing."""
    row = turn_row(a_turn())
    assert row["usage"] == [{"total_tokens": 5}, None]
    assert list(row) == [
        "time", "conversation", "turn", "agent", "model", "workspace", "attempts",
        "withheld_characters", "usage", "outcome", "cured", "unledgered",
    ]  # fmt: skip


def test_encoded_is_one_ascii_line_whatever_it_holds() -> None:
    """Line separators and surrogate halves cannot break an event."""
    text = encoded({"a": "x\n\u2028\ud800"})
    assert text.isascii()
    assert len(text.splitlines()) == 1
    assert json.loads(text) == {"a": "x\n\u2028\ud800"}
