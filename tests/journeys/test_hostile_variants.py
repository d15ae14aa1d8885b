"""Hostile answers of the corpus' kinds, in other words and combinations, in the same three runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.bench import Bench, benched
from tests.support.upstream import ScriptedUpstream
from tests.support.variants import LATE, PATTERN, late_trials, trials
from tests.support.verdicts import audited, interrupted, untouched

pytestmark = pytest.mark.anyio

TRIALS = trials()
LATE_TRIALS = late_trials()


@pytest.fixture
async def bench(
    upstream: ScriptedUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    async with benched(upstream, tmp_path, PATTERN) as running:
        yield running


async def test_without_rules_no_variant_changes(bench: Bench) -> None:
    """Status, fields, bytes and kind of ending are the upstream's, at any cutting."""
    wrong = await untouched(bench, TRIALS)
    assert not wrong, "\n".join(wrong)


async def test_a_rule_that_only_reminds_finds_the_same_in_every_variant(bench: Bench) -> None:
    """The audit names exactly the surfaces on which the pattern stands."""
    wrong = await audited(bench, TRIALS)
    assert not wrong, "\n".join(wrong)


async def test_a_rule_that_interrupts_cuts_every_variant(bench: Bench) -> None:
    """The client sees nothing of the event that completes the hit, then one legal stream."""
    wrong = await interrupted(bench, TRIALS)
    assert not wrong, "\n".join(wrong)


async def test_hits_that_later_text_decides_are_held_until_then(
    upstream: ScriptedUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of a match is shown while it is open; where it comes to nothing, all of it is."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    async with benched(upstream, tmp_path, LATE) as bench:
        wrong = await untouched(bench, LATE_TRIALS)
        wrong += await audited(bench, LATE_TRIALS)
        wrong += await interrupted(bench, LATE_TRIALS)
    assert not wrong, "\n".join(wrong)
