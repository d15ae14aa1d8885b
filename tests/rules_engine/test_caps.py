"""What bounds a turn: interrupts a rule, attempts, and time between two released events."""

from __future__ import annotations

from rules_engine.caps import Caps
from rules_engine.policy import TurnOptions
from tests.support.rules import rule_text, ruleset

ONE, OTHER = ruleset(one=rule_text(condition="a"), other=rule_text(condition="b")).live


def both(caps: Caps) -> tuple[bool, bool]:
    return caps.may_act(ONE), caps.may_act(OTHER)


def test_rule_is_exhausted_alone() -> None:
    """One noisy rule never silences the others; hits of one attempt count once."""
    caps = Caps(TurnOptions(max_interrupts_per_rule=2), 0.0)
    caps.act(["one", "one", "other"])
    assert both(caps) == (True, True)
    caps.act(["one"])
    assert both(caps) == (False, True)


def test_what_is_left_of_the_rules_is_what_may_act() -> None:
    """All of them are given as they came, without a copy; with a cap of 0 none is left."""
    caps = Caps(TurnOptions(max_interrupts_per_rule=1, max_attempts=3), 0.0)
    names = frozenset(("one", "other"))
    assert caps.left(names) is names
    caps.act(["one"])
    assert caps.left(names) == {"other"}
    caps.begin_attempt(1.0)
    caps.begin_attempt(2.0)
    assert caps.left(names) == set()
    assert Caps(TurnOptions(max_interrupts_per_rule=0), 0.0).left(names) == set()


def test_last_attempt_stops_for_nobody() -> None:
    """There would be no other to go on with."""
    caps = Caps(TurnOptions(max_attempts=2), 0.0)
    assert (caps.attempts, caps.may_act(ONE)) == (1, True)
    caps.begin_attempt(1.0)
    assert (caps.attempts, caps.may_act(ONE)) == (2, False)


def test_budget_runs_between_released_events() -> None:
    """The wait for the first event is the upstream's; a released event begins it anew."""
    caps = Caps(TurnOptions(turn_budget=10), 0.0)
    for now, releases, left in ((50, False, True), (60, True, True), (70, False, True)):
        assert not caps.pass_time(now)
        assert caps.may_act(ONE) is left
        if releases:
            caps.released()
    assert not caps.pass_time(71)
    assert not caps.may_act(ONE)
    caps.released()
    assert caps.may_act(ONE)


def test_budget_that_an_attempt_of_ours_used_up_stays_used_up() -> None:
    """Whatever is released later: there is no attempt left to be made in its time."""
    caps = Caps(TurnOptions(turn_budget=10), 0.0)
    caps.pass_time(1)
    caps.begin_attempt(5)
    assert caps.pass_time(12)
    caps.released()
    assert caps.pass_time(13)
    assert not caps.may_act(ONE)
