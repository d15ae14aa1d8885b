"""What one event of a stream costs, in counted work: the same on every machine, so it is a limit.

Counted are calls of functions, in Python and in C, by the exchange and all that it uses.
A limit stands some 15 % above what the work is now.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType

import pytest

from proxy.exchange import Exchange
from proxy.step import Step
from rules_engine.policy import ReleaseMode, TurnOptions
from rules_engine.ruleset import RuleSet
from rules_engine.turn import Turn
from tests.support.chat import events
from tests.support.exchanges import exchange_of
from tests.support.python_calls import PythonCalls
from tests.support.rules import rule_text, ruleset, turn_of

EVENTS = 600


class Calls:
    """A profiler that counts."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _frame: FrameType, event: str, _called: object) -> None:
        self.count += event in ("call", "c_call")


def rules(mode: str) -> RuleSet:
    """Forty rules on text, none of which hits or begins in the answers below."""
    names = (f"zz{number:02}q" for number in range(40))
    scanned = ruleset(
        **{name: rule_text(condition=name, scope="text", interruptMode=mode) for name in names}
    )
    assert scanned.matcher is not None
    scanned.matcher.adopt(scanned.matcher.compile())
    return scanned


RULES = {"none": ruleset(), "never": rules("never"), "always": rules("always")}


def turn(mode: str, release: ReleaseMode = ReleaseMode.SAFE) -> Turn:
    return turn_of(RULES[mode], TurnOptions(release=release))


def reads(length: int, batch: int) -> list[bytes]:
    """An answer's events, so many to a read; the first few, which are looked at, left out."""
    pieces = events(*["the next one "] * length)
    return [b"".join(pieces[at : at + batch]) for at in range(0, len(pieces), batch)]


@pytest.mark.parametrize(("mode", "limit"), [("none", 3), ("never", 13), ("always", 15)])
def test_text_that_flows_takes_few_functions(mode: str, limit: int) -> None:
    """Python's own, of one event that comes alone: they are what a wake-up costs."""
    exchange = exchange_of(turn(mode, ReleaseMode.CUT))
    given = reads(EVENTS, 1)
    for data in given[:200]:
        exchange.read(data, 0.0)
    with PythonCalls() as calls:
        for data in given[200:300]:
            exchange.read(data, 0.0)
    assert calls.number <= 100 * limit + 5  # those that leave the block, and texts that are joined


def calls_an_event(exchange: Exchange, given: Sequence[bytes], batch: int) -> float:
    """Play the reads; what a settled stream costs an event, and that all of it went out."""
    warm = len(given) // 3
    for data in given[:warm]:
        exchange.read(data, 0.0)
    calls, sent = Calls(), 0
    sys.setprofile(calls)
    for data in given[warm:]:
        told = exchange.read(data, 0.0)
        sent += len(told if isinstance(told, bytes) else told.send)
    sys.setprofile(None)
    assert sent >= sum(map(len, given[warm:])) - len(given[0])
    return calls.count / (batch * (len(given) - warm))


@pytest.mark.parametrize(
    ("mode", "batch", "limit"),
    [("none", 1, 13), ("none", 30, 0.6), ("never", 1, 46), ("never", 30, 4.6), ("always", 1, 60),
     ("always", 30, 8.4)],
)  # fmt: skip
def test_an_event_of_text_takes_so_many_calls(mode: str, batch: int, limit: float) -> None:
    """One event a read, as a model writes them, and thirty a read, as a burst brings them."""
    assert calls_an_event(exchange_of(turn(mode)), reads(EVENTS, batch), batch) <= limit


@pytest.mark.parametrize(("mode", "limit"), [("none", 1.3), ("never", 6.7), ("always", 14.8)])
def test_an_answer_that_comes_in_one_read_takes_few_calls(mode: str, limit: float) -> None:
    """Its head, which tells who answers, its text, longer than may be held, and its end."""
    body = b"".join(events(*["the next one "] * 1000))
    exchange = exchange_of(turn(mode, ReleaseMode.CUT))
    calls = Calls()
    sys.setprofile(calls)
    step = exchange.read(body, 0.0)
    sys.setprofile(None)
    assert isinstance(step, Step)
    assert step.complete
    assert step.send + step.last == body
    assert calls.count / 1000 <= limit


def test_the_cost_of_an_event_does_not_grow_with_the_stream() -> None:
    """Ten times the events, the same calls for each."""
    for mode in RULES:
        short = calls_an_event(exchange_of(turn(mode)), reads(300, 1), 1)
        long = calls_an_event(exchange_of(turn(mode)), reads(3000, 1), 1)
        assert long <= 1.05 * short + 1, mode
