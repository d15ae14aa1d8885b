"""What holds for every rule set and every answer, however the answer is cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import accumulate, product
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from rules_engine.decisions import Complete, Decision, Hit, Interrupt, Refuse, Release
from rules_engine.events import (
    FinishReason,
    OpenCharacter,
    TextDelta,
    ThinkingDelta,
    ToolClosed,
    ToolNamed,
    ToolOpened,
    TurnEvent,
)
from rules_engine.policy import OnExhausted, ReleaseMode, TurnOptions, covers
from rules_engine.rule import InterruptMode
from rules_engine.ruleset import LiveRule, RuleSet
from rules_engine.scope import Surface
from rules_engine.wording import seam
from tests.support.random_turns import (
    BROAD,
    SMALL,
    Feeding,
    Reads,
    Run,
    Wanted,
    answers,
    cut,
    follow,
    follow_reads,
    late_rules,
    mixed_answers,
    names_of,
    rule_set,
    rules,
    sources_of,
    spoken,
    texts,
)
from tests.support.rules import turn_of

STOPPING = [InterruptMode.ALWAYS, InterruptMode.PROSE_ONLY]


def _options(release: ReleaseMode) -> TurnOptions:
    return TurnOptions(release=release)


def _violates(live: LiveRule, text: str) -> bool:
    return any(trigger.final(text, 0) is not None for trigger in live.patterns)


@given(
    rules(),
    answers(),
    st.sets(st.integers(1, 120), max_size=12),
    st.sampled_from([ReleaseMode.SAFE, ReleaseMode.CUT, ReleaseMode.WHOLE]),
)
def test_any_cutting_into_deltas_gives_the_same_answer(
    wanted: list[Wanted], answer: tuple[Run, ...], cuts: set[int], release: ReleaseMode
) -> None:
    """Hits, cut, batch, partial and hold position are the content's; events go out whole."""
    ruleset = rule_set(wanted)
    finest, other = cut(answer, None), cut(answer, cuts)
    expected = follow(turn_of(ruleset, _options(release)), finest)
    course = follow(turn_of(ruleset, _options(release)), other)
    assert type(course.last) is type(expected.last)
    assert _told(course.hits, release) == _told(expected.hits, release)
    if isinstance(course.last, Interrupt) and isinstance(expected.last, Interrupt):
        assert course.last.partial == expected.last.partial
    held_at = dict(zip(finest.borders, expected.out, strict=False))
    for fed, out in enumerate(course.out):
        border = other.borders[fed]
        hold = held_at.get(border, expected.out[-1])
        ends = other.borders[: fed + 1 if border in held_at else fed]
        assert out == max((end for end in ends if end <= hold), default=0)


READS = st.builds(
    Reads,
    st.lists(st.integers(1, 12), max_size=20),
    st.sampled_from([0.0, 0.0, 0.6, 1.2]),
)
CUTS = st.one_of(st.none(), st.sets(st.integers(1, 120), max_size=60))


@given(
    rules(),
    st.lists(mixed_answers(), min_size=1, max_size=2),
    CUTS,
    READS,
    st.builds(
        TurnOptions,
        release=st.sampled_from([*ReleaseMode, ReleaseMode.CUT]),
        hold_limit=st.sampled_from([3, 10, 4096]),
        max_interrupts_per_rule=st.sampled_from([1, 3]),
        turn_budget=st.sampled_from([1.0, 120.0]),
    ),
)
def test_texts_fed_together_give_what_they_give_one_by_one(
    wanted: list[Wanted],
    script: list[tuple[Run, ...]],
    cuts: set[int] | None,
    reads: Reads,
    options: TurnOptions,
) -> None:
    """What is decided, with which event, what is out by then: all as if texts were any events."""
    _same_however_fed(wanted, script, cuts, reads, options)


@given(
    late_rules(),
    st.lists(mixed_answers(alphabet=SMALL), min_size=1, max_size=2),
    CUTS,
    READS,
    st.builds(
        TurnOptions,
        release=st.sampled_from([ReleaseMode.CUT, ReleaseMode.CUT, ReleaseMode.SAFE]),
        hold_limit=st.sampled_from([5, 4096, 4096]),
        turn_budget=st.sampled_from([1.0, 120.0]),
    ),
)
def test_what_went_out_while_a_match_was_not_complete_is_out(
    wanted: list[Wanted],
    script: list[tuple[Run, ...]],
    cuts: set[int] | None,
    reads: Reads,
    options: TurnOptions,
) -> None:
    """Within a run too: under `cut` text that may go now can be held once there is more of it."""
    _same_however_fed(wanted, script, cuts, reads, options)


def _same_however_fed(
    wanted: list[Wanted],
    script: list[tuple[Run, ...]],
    cuts: set[int] | None,
    reads: Reads,
    options: TurnOptions,
) -> None:
    ruleset = rule_set(wanted)
    turns = {feeding: turn_of(ruleset, options) for feeding in get_args(Feeding)}
    begin = 0.0
    for answer in script:
        attempt = cut(answer, cuts)
        told = {
            feeding: follow_reads(turn, attempt, reads, feeding, begin)
            for feeding, turn in turns.items()
        }
        expected = told["as events"]
        for each in told.values():
            assert list(map(_without_releases, each)) == list(map(_without_releases, expected))
            assert _out_by_read(each) == _out_by_read(expected)
        if not isinstance(expected[-1][-1], Interrupt | Refuse):
            break
        begin += len(attempt.events) * reads.pause
        for turn in turns.values():
            turn.reissued(begin)


_EVENTS: dict[str, tuple[TurnEvent, ...]] = {
    "sealed": (ThinkingDelta(0, "", sealed=True),),
    "half": (TextDelta(0, "a"), OpenCharacter(0)),
    "call": (ToolOpened(0, 0), ToolNamed(0, 0, "write")),
    "closed": (ToolClosed(0, 0),),
    "finish": (FinishReason(0, "stop"),),
    "nothing": (),
}


@given(
    rules(alphabet=SMALL),
    st.lists(
        st.one_of(
            texts(SMALL, 4, 1).map(lambda text: (TextDelta(0, text),)),
            texts(SMALL, 4, 1).map(lambda text: (TextDelta(0, text),)),
            texts(SMALL, 4, 1).map(lambda text: (ThinkingDelta(0, text),)),
            st.sampled_from([*_EVENTS, "tick", "give up"]),
        ),
        max_size=14,
    ),
    st.builds(
        TurnOptions,
        release=st.sampled_from([*ReleaseMode, ReleaseMode.CUT]),
        hold_limit=st.sampled_from([3, 4096]),
        turn_budget=st.sampled_from([2.0, 120.0]),
    ),
    st.booleans(),
    st.booleans(),
)
def test_text_alone_is_decided_on_as_any_event(
    wanted: list[Wanted],
    script: list[str | tuple[TurnEvent, ...]],
    options: TurnOptions,
    observe: bool,  # noqa: FBT001 - drawn
    structured: bool,  # noqa: FBT001 - drawn
) -> None:
    """Whatever came before it: text passes without delay only where it would anyhow."""
    ruleset = rule_set(wanted)
    one, other = (
        turn_of(ruleset, options, observe=observe, structured=structured) for _ in range(2)
    )
    opened = False
    for at, step in enumerate(script):
        if (step == "closed" and not opened) or (step == "call" and opened):
            continue
        opened = opened or step == "call"
        if step == "tick":
            answers = one.tick(at), other.tick(at)
        elif step == "give up":
            answers = one.give_up(), other.give_up()
            opened = False
        else:
            events = _EVENTS[step] if isinstance(step, str) else step
            match events:
                case (TextDelta(choice, text),):
                    alone = other.feed_text(at, choice, [text], at)
                case _:
                    alone = other.feed(at, events, at)
            answers = one.feed(at, events, at), alone
        assert answers[0] == answers[1]
        if any(isinstance(each, Interrupt) for each in answers[0]):
            one.reissued(at)
            other.reissued(at)
            opened = False


def _without_releases(decisions: list[Decision]) -> list[Decision]:
    return [each for each in decisions if not isinstance(each, Release)]


def _out_by_read(answers: list[list[Decision]]) -> list[int]:
    """The last event that is out behind each read."""
    last = [[each.through for each in read if isinstance(each, Release)] for read in answers]
    return list(accumulate((max(read, default=-1) for read in last), max))


def _told(hits: tuple[Hit, ...], release: ReleaseMode) -> list[Hit]:
    """Under `cut` the begin of a match goes out, or not, with the event that it stands in."""
    return [replace(hit, leaked=hit.leaked and release is not ReleaseMode.CUT) for hit in hits]


@given(rules(alphabet=SMALL, modes=STOPPING, scopes=["text"], most=2), st.data())
def test_no_continuation_makes_a_match_on_released_text(
    wanted: list[Wanted], data: st.DataObject
) -> None:
    """Whatever the answer goes on to say, no interrupting match overlaps what went out."""
    ruleset = rule_set(wanted)
    turn = turn_of(ruleset, TurnOptions(max_interrupts_per_rule=9, max_attempts=3))
    for _ in range(2):
        text = data.draw(texts(SMALL, 6, 1))
        before = turn.released + seam(turn.released) if turn.released else ""
        attempt = cut([Run(Surface.TEXT, text)], data.draw(st.sets(st.integers(1, 6))))
        course = follow(turn, attempt)
        own = [out for out in course.out if out <= len(text)]
        assert own == sorted(own)
        for fed, out in enumerate(own):
            known = before + text[: attempt.borders[fed]]
            if fed < len(attempt.borders) - 2 and not (course.cut and fed == len(own) - 1):
                _none_overlaps(ruleset, known, len(before), len(before) + out)
        if not course.cut:
            return
        turn.reissued(0.0)


def _none_overlaps(rules: RuleSet, known: str, beyond: int, out: int) -> None:
    """`out`: how much is released, `beyond` of it by an attempt before this one."""
    if out == beyond:
        return
    for tail in product(SMALL, repeat=2):
        for length in range(3):
            text = known + "".join(tail[:length])
            for live in rules.live:
                for trigger in live.patterns:
                    spans = _all_spans(trigger.pattern.final, text)
                    assert not [s for s in spans if s[0] < out and s[1] > beyond], (
                        live.rule.conditions,
                        text,
                    )


def _all_spans(compiled: object, text: str) -> list[tuple[int, int]]:
    found = [compiled.match(text, at) for at in range(len(text))]  # type: ignore[attr-defined]
    return [match.span() for match in found if match is not None]


@given(
    rules(modes=STOPPING, scopes=["text"]),
    texts(BROAD, 14, 1),
    st.sets(st.integers(1, 14)),
)
def test_interrupting_match_stays_here(wanted: list[Wanted], text: str, cuts: set[int]) -> None:
    """Not one character of the match that stops an answer has reached the client."""
    ruleset = rule_set(wanted)
    attempt = cut([Run(Surface.TEXT, text)], cuts)
    turn = turn_of(ruleset)
    course = follow(turn, attempt)
    assert course.cut == any(_violates(live, text) for live in ruleset.live)
    if isinstance(course.last, Interrupt):
        assert len(turn.released) <= min(hit.start for hit in course.last.hits)
        assert not any(hit.leaked for hit in course.last.hits)


@given(rules(modes=[InterruptMode.NEVER]), answers(), st.sets(st.integers(1, 120)))
def test_quiet_hits_are_those_of_one_search_of_the_finished_texts(
    wanted: list[Wanted], answer: tuple[Run, ...], cuts: set[int]
) -> None:
    """A rule that only reminds hits exactly what a search of each finished text finds."""
    ruleset = rule_set(wanted)
    course = follow(turn_of(ruleset), cut(answer, cuts))
    assert isinstance(course.last, Complete)
    told = {(hit.rule.name, hit.surface, hit.call) for hit in course.last.reminders}
    assert told == _violations(ruleset, answer)


@given(
    rules(modes=[InterruptMode.ALWAYS], most=1),
    answers(),
    st.sets(st.integers(1, 120)),
)
def test_answer_is_stopped_where_a_search_of_the_finished_texts_finds_something(
    wanted: list[Wanted], answer: tuple[Run, ...], cuts: set[int]
) -> None:
    """An interrupting rule stops an answer exactly if it matches one of its finished texts."""
    ruleset = rule_set(wanted)
    course = follow(turn_of(ruleset), cut(answer, cuts))
    stopped = not isinstance(course.last, Complete)
    assert stopped == bool(_violations(ruleset, answer))


def _violations(rules: RuleSet, answer: tuple[Run, ...]) -> set[tuple[str, Surface, int | None]]:
    found: set[tuple[str, Surface, int | None]] = set()
    calls = [run for run in answer if run.surface is Surface.TOOL]
    for live in rules.live:
        for surface in (Surface.TEXT, Surface.THINKING):
            text = "".join(run.text for run in answer if run.surface is surface)
            if live.rule.watches(surface) and _violates(live, text):
                found.add((live.rule.name, surface, None))
        for number, run in enumerate(calls):
            watches = live.rule.watches(Surface.TOOL, names_of(run), ())
            if watches and any(_violates(live, source) for source in sources_of(run)):
                found.add((live.rule.name, Surface.TOOL, number))
    return found


@given(
    rules(alphabet=SMALL),
    st.lists(answers(alphabet=SMALL), min_size=1, max_size=4),
    st.builds(
        TurnOptions,
        release=st.sampled_from(list(ReleaseMode)),
        hold_limit=st.sampled_from([3, 4096]),
        max_interrupts_per_rule=st.integers(1, 3),
        max_attempts=st.integers(1, 5),
        on_exhausted=st.sampled_from([OnExhausted.REFUSE, OnExhausted.ERROR]),
    ),
    st.data(),
)
def test_turn_keeps_its_caps_and_its_word(
    wanted: list[Wanted], script: list[tuple[Run, ...]], options: TurnOptions, data: st.DataObject
) -> None:
    """Caps hold, one end comes, no violating call goes out, and `released` is what was seen."""
    ruleset = rule_set(wanted)
    turn = turn_of(ruleset, options)
    acted: Counter[str] = Counter()
    client, ends = "", 0
    for answer in [*script, *[script[-1]] * options.max_attempts]:
        attempt = cut(answer, data.draw(st.sets(st.integers(1, 60), max_size=6)))
        course = follow(turn, attempt)
        shown = spoken(attempt, course.out[-1])
        _no_violating_call_went_out(ruleset, answer, attempt.events, course.decisions)
        if isinstance(course.last, Complete):
            ends += 1
            break
        assert turn.released == (client + seam(client) if client and shown else client) + shown
        client = turn.released
        _count(course.last, options, acted)
        assert turn.attempts < options.max_attempts
        turn.reissued(0.0)
    assert ends == 1


def _count(ended: Interrupt | Refuse, options: TurnOptions, acted: Counter[str]) -> None:
    """A turn is only stopped by a rule that has an interrupt left."""
    acting = {
        hit.rule.name
        for hit in ended.hits
        if covers(hit.rule.interrupt_mode or InterruptMode.ALWAYS, hit.surface)
    }
    assert any(acted[name] < options.max_interrupts_per_rule for name in acting)
    acted.update(acting)


def _no_violating_call_went_out(
    rules: RuleSet, answer: tuple[Run, ...], events: object, decisions: object
) -> None:
    through = max((d.through for d in decisions if isinstance(d, Release)), default=-1)  # type: ignore[attr-defined]
    calls = [run for run in answer if run.surface is Surface.TOOL]
    out = [
        event.call
        for wire in events[: through + 1]  # type: ignore[index]
        for event in wire
        if isinstance(event, ToolOpened)
    ]
    for number in out:
        for live in rules.live:
            watches = live.rule.watches(Surface.TOOL, names_of(calls[number]), ())
            if watches and covers(live.mode, Surface.TOOL):
                assert not any(_violates(live, source) for source in sources_of(calls[number]))
