"""How far one pattern has come."""

from __future__ import annotations

import pytest

from rules_engine.dialect import compile_pattern
from rules_engine.progress import PATIENCE, Progress
from rules_engine.triggers.pattern import OverBudget


def test_search_is_put_off_once_a_match_has_been_pending_for_long() -> None:
    """Then the text behind its beginning grows by a quarter between two searches."""
    progress = Progress()
    progress.put_off(PATIENCE + 10, 10)
    assert progress.due == 0
    progress.put_off(2 * PATIENCE, 0)
    assert progress.due == 2 * PATIENCE + PATIENCE // 2


def test_searches_are_charged_by_length_and_by_beginnings() -> None:
    """Places where a pattern that takes long could begin count as much again."""
    cheap, dear = compile_pattern("foo"), compile_pattern("foo.*bar.*bar.*bar.*bar")
    text = "foo" * 1_000
    works: list[int] = []
    for pattern in (cheap, dear):
        progress = Progress()
        progress.charge(pattern, text, 0)
        works.append(progress.work)
    assert works == [3_000, 3_000 * 65]


def test_work_beyond_the_bound_is_over_budget() -> None:
    """The bound grows with the text."""
    progress, pattern = Progress(), compile_pattern("foo")
    text = "x" * 1_000_000
    for _ in range(64 + 32):
        progress.charge(pattern, text, 0)
    with pytest.raises(OverBudget):
        progress.charge(pattern, text, 0)
