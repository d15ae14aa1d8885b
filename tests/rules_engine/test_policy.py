from __future__ import annotations

import pytest

from rules_engine.policy import allows, covers
from rules_engine.rule import ContextMode, InterruptMode, RepeatMode, Rule
from rules_engine.ruleset import LiveRule
from rules_engine.scope import Surface


def _live(repeat: RepeatMode, gap: int = 10) -> LiveRule:
    rule = Rule("r", "r.md", "native", "Body.")
    return LiveRule(rule, InterruptMode.ALWAYS, ContextMode.KEEP, repeat, gap)


@pytest.mark.parametrize(
    ("mode", "surfaces"),
    [
        (InterruptMode.ALWAYS, {"text", "thinking", "tool"}),
        (InterruptMode.PROSE_ONLY, {"text", "thinking"}),
        (InterruptMode.TOOL_ONLY, {"tool"}),
        (InterruptMode.NEVER, set()),
    ],
)
def test_mode_covers_its_surfaces(mode: InterruptMode, surfaces: set[str]) -> None:
    """Each interrupt mode names exactly the surfaces on which a hit interrupts."""
    assert {s.value for s in Surface if covers(mode, s)} == surfaces


def test_once_allows_until_delivered() -> None:
    """A rule under `once` may act as long as no note of it stands in the conversation."""
    live = _live(RepeatMode.ONCE)
    assert allows(live, {})
    assert not allows(live, {"r": 1})
    assert not allows(live, {"r": 10_000})
    assert allows(live, {"other": 1})


@pytest.mark.case(127)
def test_after_gap_allows_again_once_the_gap_has_passed() -> None:
    """With a gap of two: blocked one message after the delivery, allowed two after it."""
    live = _live(RepeatMode.AFTER_GAP, gap=2)
    assert allows(live, {})
    assert not allows(live, {"r": 1})
    assert allows(live, {"r": 2})
