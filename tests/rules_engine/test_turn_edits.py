"""Edits inside the answer's text: tools for scope and mode, prose for what becomes of a hit."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.decisions import Complete, Decision, Interrupt, Observe
from rules_engine.events import TextDelta
from rules_engine.families import EditsInProse, ProseFormat
from rules_engine.policy import ReleaseMode, TurnOptions
from rules_engine.ruleset import RuleSet
from rules_engine.scope import Surface
from rules_engine.structures import CheckStructure, StructureResult
from rules_engine.turn import Facts, Turn
from tests.support.playbook import Heard, broken, done, play, text
from tests.support.prose import EXAMPLES
from tests.support.rules import FAMILIES, rule_text, ruleset

PYTHON = rule_text(condition="BAD", scope="tool:edit(*.py)")
QUIET = rule_text(condition="BAD", scope="tool:edit(*.py)", interruptMode="never")
BLOCK = "a.py\n<<<<<<< SEARCH\nBAD\n=======\nmy BAD thing\n>>>>>>> REPLACE\n"


def turn_of(
    rules: RuleSet,
    *formats: ProseFormat,
    delivered: dict[str, int] | None = None,
    observe: bool = False,
    release: ReleaseMode = ReleaseMode.SAFE,
) -> Turn:
    facts = Facts(
        families=FAMILIES,
        structured=True,
        observe=observe,
        edits=EditsInProse(formats or (ProseFormat.SEARCH_REPLACE,)),
    )
    return Turn(rules, facts, TurnOptions(release=release), delivered or {}, now=0.0)


def pieces(answer: str, step: int) -> list[list[TextDelta]]:
    bounds = [*range(0, len(answer), step), len(answer)]
    return [[TextDelta(0, answer[start:end])] for start, end in pairwise(bounds)]


@pytest.mark.parametrize("scope", ["text", "tool:edit(*.py)"])
@pytest.mark.parametrize("release", ReleaseMode)
def test_texts_fed_together_are_cut_as_one_by_one(scope: str, release: ReleaseMode) -> None:
    """In prose and in an edit, with the same event and the same partial."""
    rules = ruleset(foo=rule_text(condition=r"BAD\b", scope=scope))
    cut = [each.text for (each,) in pieces(f"I do so.\n{BLOCK}BAD\n", 5)]
    answers = []
    for size in (1, 4, len(cut)):
        turn = turn_of(rules, release=release)
        told = (turn.feed_text(at, 0, cut[at : at + size], 0.0) for at in range(0, len(cut), size))
        answers.append(next(each for answer in told for each in answer))
    assert isinstance(answers[0], Interrupt)
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_hit_cuts_the_text_behind_it(step: int) -> None:
    """The partial is text, up to the hit; nothing was released, however the text came."""
    answer = f"I do BAD things.\n{BLOCK}BAD\n"
    turn = turn_of(ruleset(foo=PYTHON))
    assert turn.plan().whole
    heard = play(turn, pieces(answer, step))
    (interrupt,) = heard.of(Interrupt)
    assert heard.released == []
    assert interrupt.partial == answer[: answer.index("my BAD") + len("my BAD")]
    assert interrupt.seam == ""
    (hit,) = interrupt.hits
    assert (hit.surface, hit.tool, hit.path, hit.call) == (Surface.TOOL, "edit", "a.py", None)
    assert hit.decided == len(interrupt.partial)
    assert "my BAD" in hit.excerpt


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_first_of_two_surfaces_cuts(step: int) -> None:
    """Positions in prose and in edits are compared as they stand in the text."""
    rules = ruleset(foo=PYTHON, said=rule_text(condition="SAID", scope="text"))
    (first,) = play(turn_of(rules), pieces(f"SAID\n{BLOCK}", step)).of(Interrupt)
    assert [hit.rule.name for hit in first.hits] == ["said"]
    (second,) = play(turn_of(rules), pieces(f"{BLOCK}SAID", step)).of(Interrupt)
    assert [hit.rule.name for hit in second.hits] == ["foo"]


def test_edit_is_no_prose() -> None:
    """A rule on text does not see what an edit adds, and other files are of no interest."""
    rules = ruleset(
        said=rule_text(condition="thing", scope="text"),
        other=rule_text(condition="BAD", scope="tool:edit(*.ts)"),
    )
    assert play(turn_of(rules), text(BLOCK) + done()).of(Complete) == [Complete(())]


def test_quiet_hit_is_told_behind_the_message() -> None:
    """There is no call whose result a note could stand in front of; nothing is held."""
    turn = turn_of(ruleset(foo=QUIET))
    heard = play(turn, text("So.\n", *BLOCK.splitlines(keepends=True)) + done())
    assert not turn.plan().whole
    (complete,) = heard.of(Complete)
    assert [(hit.rule.name, hit.call) for hit in complete.reminders] == [("foo", None)]
    assert heard.released == list(range(9))


def test_prose_only_rule_does_not_stop_an_edit() -> None:
    """The mode is asked for tools."""
    rules = ruleset(foo=rule_text(condition="BAD", scope="tool", interruptMode="prose-only"))
    heard = play(turn_of(rules), text(BLOCK) + done())
    assert not heard.of(Interrupt)
    assert len(heard.of(Complete)[0].reminders) == 1


def test_edit_that_breaks_a_spent_rule_is_stopped_again() -> None:
    """As a call would be refused: a rule that was told still keeps files clean."""
    turn = turn_of(ruleset(foo=PYTHON), delivered={"foo": 1})
    assert play(turn, text(BLOCK) + done()).of(Interrupt)


def test_edit_cut_off_by_the_end_is_stopped_there() -> None:
    """What only the end decides interrupts there, with all of the text."""
    answer = "a.py\n<<<<<<< SEARCH\n=======\nmy BAD"
    rules = ruleset(foo=rule_text(condition=r"BAD\b", scope="tool:edit(*.py)"))
    (interrupt,) = play(turn_of(rules), text(answer) + done()).of(Interrupt)
    assert interrupt.partial == answer


def test_edit_of_a_broken_answer_is_dropped_where_it_breaks_a_rule() -> None:
    """The other events go out, and the whole edit stays here."""
    answer = ["fine\n", "a.py\n", "<<<<<<< SEARCH\n", "=======\n", "my ", "BAD"]
    rules = ruleset(foo=rule_text(condition=r"BAD\b", scope="tool:edit(*.py)"))
    heard = play(turn_of(rules), text(*answer) + broken())
    assert heard.of(Complete)[0].broken
    (release,) = [each for each in heard.decisions if hasattr(each, "dropped")]
    assert release.dropped == {2, 3, 4, 5}


def test_exhausted_rule_becomes_a_reminder() -> None:
    """No call could be withheld, so the text goes out and the next request is told."""
    turn = turn_of(ruleset(foo=PYTHON))
    for _ in range(3):
        assert play(turn, text(BLOCK)).of(Interrupt)
        turn.reissued(0.0)
    (complete,) = play(turn, text(BLOCK) + done()).of(Complete)
    assert [hit.exhausted for hit in complete.reminders] == [True]


def test_side_request_is_only_observed() -> None:
    """Hits are reported."""
    heard = play(turn_of(ruleset(foo=PYTHON), observe=True), text(BLOCK) + done())
    assert [each.hits[0].rule.name for each in heard.of(Observe)] == ["foo"]


def test_structure_in_an_edit_interrupts_at_the_end() -> None:
    """Each edit is searched once the message is over."""
    turn = turn_of(ruleset(foo=rule_text(astCondition="$A as any", scope="tool:edit(*.ts)")))
    answer = "a.ts\n<<<<<<< SEARCH\n=======\nlet x = y as any\n>>>>>>> REPLACE\nend"
    (check,) = [
        each
        for ordinal, events in enumerate(text(answer) + done())
        for each in turn.feed(ordinal, events, 0.0)
        if isinstance(each, CheckStructure)
    ]
    results = [StructureResult(job, job.search.run()) for job in check.jobs]
    (interrupt,) = Heard(list(turn.checked(results, 0.0))).of(Interrupt)  # type: ignore[arg-type]
    assert interrupt.partial == answer
    assert [(hit.path, hit.call) for hit in interrupt.hits] == [("a.ts", None)]


WORDS = st.sampled_from(
    ["\n", "so new ", "old", "a.py\n", "```", "b.ts\n```\n", *EXAMPLES.values()]
)
RULES = ruleset(
    made=rule_text(condition=r"\bnew\b", scope="tool:edit(*.py)"),
    quiet=rule_text(condition=r"ne\w", scope="tool", interruptMode="never"),
    said=rule_text(condition=r"old\b", scope="text"),
    murmured=rule_text(condition=r"so new", scope="text", interruptMode="never"),
)


@given(st.lists(WORDS, max_size=5), st.lists(st.integers(1, 30), max_size=20))
def test_cutting_makes_no_difference(words: list[str], steps: list[int]) -> None:
    """Hits, cut, batch and partial are the text's, with every format read at once."""
    answer = "".join(words)
    bounds = [0, *(cut for cut in accumulate(steps) if cut < len(answer)), len(answer)]
    cut = text(*(answer[start:end] for start, end in pairwise(bounds)))
    told = [
        _decided(play(turn_of(RULES, *ProseFormat), wires + done()).decisions)
        for wires in (text(answer), text(*answer), cut)
    ]
    assert told[0] == told[1] == told[2]


def _decided(decisions: list[Decision]) -> list[Decision]:
    """What ended the attempt; with which event it was decided, the cutting says."""
    cuts = [replace(each, at=0) for each in decisions if isinstance(each, Interrupt)]
    return [*cuts, *(each for each in decisions if isinstance(each, Complete))]
