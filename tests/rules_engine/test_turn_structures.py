"""Structures in a call that still streams: what cuts it, where, and what waits for its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.decisions import Complete, Hit, Interrupt, Quarantined, Refuse, Release
from rules_engine.early import STEP
from rules_engine.policy import TurnOptions
from rules_engine.ruleset import RuleSet
from rules_engine.structures import CheckStructure, StructureJob, StructureResult
from rules_engine.turn import Answer, Turn
from tests.support.playbook import Wire, call, done
from tests.support.rules import rule_text, ruleset, turn_of

LOUD = rule_text(astCondition="eval($X)", scope="tool:write(*.ts)")
QUIET = rule_text(astCondition="eval($X)", scope="tool:write(*.ts)", interruptMode="never")
BAD = "const one = 1;\neval(one);\n"
PADDING = "".join(f"const n{number} = run({number});\n" for number in range(120))
LONG = BAD + PADDING


def run(job: StructureJob) -> StructureResult:
    return StructureResult(job, job.search.run())


def follow(
    turn: Turn, wires: Sequence[Wire], result_of: Callable[[StructureJob], StructureResult] = run
) -> list[Answer]:
    """Feed an attempt until it is over, running the searches that the turn asks for."""
    answers: list[Answer] = []
    for ordinal, events in enumerate(wires):
        newest = turn.feed(ordinal, events, 0.0)
        answers += newest
        while newest and isinstance(newest[-1], CheckStructure):
            newest = turn.checked([result_of(job) for job in newest[-1].jobs], 0.0)
            answers += newest
        if any(isinstance(answer, Interrupt | Refuse) for answer in answers):
            break
    return answers


def written(source: str, *cuts: int, path: str = "a.ts") -> list[Wire]:
    return call(0, "write", {"path": path, "content": source}, *cuts)


def interrupts(answers: Sequence[Answer]) -> list[Hit]:
    return [hit for each in answers if isinstance(each, Interrupt) for hit in each.hits]


def test_statement_that_is_closed_cuts_the_call() -> None:
    """At the first end of a line behind so many characters, long before the call's own end."""
    (hit,) = interrupts(follow(turn_of(ruleset(foo=LOUD)), written(LONG)))
    assert LONG[hit.start : hit.end] == "eval(one)"
    assert (hit.path, hit.tool, hit.call) == ("a.ts", "write", 0)
    raw = json.dumps({"path": "a.ts", "content": LONG})
    checked = LONG.index("\n", STEP - 1) + 1
    assert raw[: hit.decided] == json.dumps({"path": "a.ts", "content": LONG[:checked]})[:-2]
    assert "eval(one)" in hit.excerpt


def test_nothing_behind_the_decision_is_needed() -> None:
    """Whatever the call would have gone on to be, it is cut with the same hit."""
    raw = json.dumps({"path": "a.ts", "content": LONG})
    (hit,) = interrupts(follow(turn_of(ruleset(foo=LOUD)), written(LONG)))
    for rest in ("", '"}', "\\n}}} ((( `", '\\n/*"}', "not JSON"):
        wires = call(0, "write", raw[: hit.decided] + rest)
        assert interrupts(follow(turn_of(ruleset(foo=LOUD)), wires)) == [hit]


@given(st.lists(st.integers(1, 9_000), max_size=12), st.integers(0, 60), st.booleans())
def test_any_cutting_gives_the_same_cut(cuts: list[int], before: int, both: bool) -> None:  # noqa: FBT001 - drawn
    """Of structures and patterns, in one file or two: hits and positions are the content's."""
    rules = ruleset(
        foo=LOUD,
        bar=rule_text(astCondition="debugger", condition="n80", scope="tool"),
        baz=rule_text(condition="n3[0-9]", scope="tool", interruptMode="never"),
    )
    lines = PADDING.split("\n")
    source = "\n".join((*lines[:before], "eval(a);", *lines[before:], "debugger;", *lines))
    arguments = {"path": "a.ts", "content": source}
    if both:
        arguments = {"content": source, "path": "a.ts"}
    raw = json.dumps(arguments)
    within = sorted({cut for cut in cuts if cut < len(raw)})
    found = [
        interrupts(follow(turn_of(rules), [*call(0, "write", raw, *edges), *done(0)]))
        for edges in ([], within, range(37, len(raw), 37))
    ]
    assert found[0]
    assert found[0] == found[1] == found[2]


def test_text_in_front_of_the_path_counts_with_the_path() -> None:
    """A hit is decided once tool and path are settled."""
    raw = json.dumps({"content": LONG, "path": "a.ts"})
    (hit,) = interrupts(follow(turn_of(ruleset(foo=LOUD)), call(0, "write", raw, 3_000)))
    assert hit.decided == len(raw) - 1


def test_statement_at_the_end_is_refused_with_the_finished_call() -> None:
    """What is not closed at any of the places is found on the whole, as before."""
    source = PADDING + "eval(last);\n"
    answers = follow(turn_of(ruleset(foo=LOUD)), [*written(source), *done(0)])
    assert not interrupts(answers)
    assert [each.refused for each in answers if isinstance(each, Refuse)] == [(0,)]


@pytest.mark.parametrize(
    ("rules", "options", "delivered"),
    [
        pytest.param(ruleset(foo=QUIET), TurnOptions(), {}, id="a rule that reminds"),
        pytest.param(ruleset(foo=LOUD), TurnOptions(), {"foo": 1}, id="a rule that was told"),
        pytest.param(ruleset(foo=LOUD), TurnOptions(max_attempts=1), {}, id="no attempt is left"),
    ],
)
def test_rule_that_may_not_cut_is_searched_at_the_end_alone(
    rules: RuleSet, options: TurnOptions, delivered: Mapping[str, int]
) -> None:
    """It pays for no search before that."""
    turn = turn_of(rules, options, delivered=delivered)
    answers = follow(turn, [*written(LONG), *done(0)])
    assert not interrupts(answers)
    assert any(isinstance(each, CheckStructure) for each in answers)


def test_observed_request_is_not_cut() -> None:
    """Several choices, side requests: hits are only reported, once."""
    answers = follow(turn_of(ruleset(foo=LOUD), observe=True), [*written(LONG), *done(0)])
    assert not interrupts(answers)
    assert any(isinstance(each, Complete) for each in answers)


def test_other_file_is_none_of_the_rule() -> None:
    """Scope and language are asked before anything is searched."""
    for path in ("a.md", "a.js", "a"):
        answers = follow(turn_of(ruleset(foo=LOUD)), [*written(LONG, path=path), *done(0)])
        assert not interrupts(answers)


def test_later_call_of_a_message_is_cut_too() -> None:
    """Searches of an attempt share what they may cost, in the order of the wire."""
    clean = [*call(0, "write", {"path": "b.ts", "content": PADDING})]
    bad = [*call(1, "write", {"path": "a.ts", "content": LONG})]
    (hit,) = interrupts(follow(turn_of(ruleset(foo=LOUD)), [*clean, *bad]))
    assert hit.call == 1


def test_search_that_is_not_done_in_time_is_the_last_one_before_the_end() -> None:
    """The end searches the finished call, and alone says what went unchecked."""
    asked: list[bool] = []

    def late(job: StructureJob) -> StructureResult:
        asked.append(job.search.closed)
        return StructureResult(job, unchecked=True) if job.search.closed else run(job)

    wires = [*written(LONG, *range(50, len(LONG), 50)), *done(0)]
    answers = follow(turn_of(ruleset(foo=LOUD)), wires, late)
    assert asked == [True, False]
    assert not [each for each in answers if isinstance(each, Quarantined)]
    assert [each.refused for each in answers if isinstance(each, Refuse)] == [(0,)]


@pytest.mark.parametrize("count", [1, 300])
def test_rules_that_end_while_a_search_runs_lose_no_event(count: int) -> None:
    """The event that waits for it goes out with the others."""
    turn = turn_of(ruleset(foo=LOUD))
    cuts = range(count, len(LONG), count)
    for ordinal, events in enumerate(written(LONG, *cuts)):
        answers = turn.feed(ordinal, events, 0.0)
        if answers and isinstance(answers[-1], CheckStructure):
            break
    (release,) = turn.give_up()
    assert isinstance(release, Release)
    assert release.through == ordinal


def test_searches_wait_for_what_an_event_brings_before_them() -> None:
    """Of one event the earlier hit cuts, whichever is found by a search."""
    quick = rule_text(condition="n90", scope="tool:write(*.ts)")
    slow = rule_text(condition="n5 ", scope="tool:write(*.ts)")
    for pattern, first in ((quick, "foo"), (slow, "bar")):
        answers = follow(turn_of(ruleset(foo=LOUD, bar=pattern)), written(LONG))
        assert [hit.rule.name for hit in interrupts(answers)] == [first]
