"""Hostile answers, end to end through the real server, in three runs.

Those of the corpus, and variants: of its kinds, in other words and combinations.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.bench import Bench, benched
from tests.support.corpus import cases
from tests.support.trials import Trial, trial_of
from tests.support.upstream import ScriptedUpstream
from tests.support.variants import LATE, PATTERN, late_trials, trials
from tests.support.verdicts import audited, interrupted, untouched

pytestmark = pytest.mark.anyio


@dataclass(frozen=True, slots=True)
class Round:
    """Answers that are tried with rules on one pattern."""

    pattern: str
    trials: Sequence[Trial]


ROUNDS = {
    "corpus": Round("FORBIDDEN", [trial_of(played) for played in cases()]),
    "variants": Round(PATTERN, trials()),
    # Hits that later text decides: nothing of a match is shown while it is open, and where it
    # comes to nothing, all of it is.
    "late": Round(LATE, late_trials()),
}


@pytest.fixture(params=ROUNDS)
def played(request: pytest.FixtureRequest) -> Round:
    return ROUNDS[request.param]


@pytest.fixture
async def bench(
    upstream: ScriptedUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: Round
) -> AsyncIterator[Bench]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    async with benched(upstream, tmp_path, played.pattern) as running:
        yield running


async def test_without_rules_nothing_changes(bench: Bench, played: Round) -> None:
    """Status, fields, bytes and kind of ending are the upstream's, at any cutting."""
    wrong = await untouched(bench, played.trials)
    assert not wrong, "\n".join(wrong)


async def test_a_rule_that_only_reminds_changes_nothing_and_is_audited(
    bench: Bench, played: Round
) -> None:
    """The audit names exactly the surfaces on which the pattern stands."""
    wrong = await audited(bench, played.trials)
    assert not wrong, "\n".join(wrong)


async def test_a_rule_that_interrupts_cuts_in_front_of_its_hit(bench: Bench, played: Round) -> None:
    """The client sees nothing of the event that completes the hit, then one legal stream."""
    wrong = await interrupted(bench, played.trials)
    assert not wrong, "\n".join(wrong)
