"""Random rules and answers, and how a turn takes an answer that is cut in one way or another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Literal

from hypothesis import strategies as st

from rules_engine.decisions import Complete, Decision, Hit, Interrupt, Refuse, Release
from rules_engine.events import (
    Finished,
    FinishReason,
    TextDelta,
    ThinkingDelta,
    ToolArguments,
    ToolClosed,
    ToolNamed,
    ToolOpened,
    TurnEvent,
)
from rules_engine.rule import ContextMode, InterruptMode
from rules_engine.ruleset import RuleSet, RuleSetOptions, build
from rules_engine.scope import ScopeToken, Surface
from rules_engine.structures import CheckStructure
from rules_engine.turn import Answer, Turn
from tests.support.rule_sets import a_rule

SMALL = "ab\n"
BROAD = "abc \né\U0001f600"
_SCOPES = ("text", "thinking", "tool", "text thinking tool", "text tool:edit")


def texts(alphabet: str, longest: int, shortest: int = 0) -> st.SearchStrategy[str]:
    """Texts over a few characters, so that patterns meet them often."""
    return st.text(st.sampled_from(alphabet), min_size=shortest, max_size=longest)


def _atoms(alphabet: str) -> st.SearchStrategy[str]:
    letters = [c.replace("\n", "\\n") for c in alphabet]
    classes = ["[ab]", "[^a]", ".", "\\w", "\\s"]
    return st.sampled_from([*letters, *letters, *classes])


def patterns(alphabet: str) -> st.SearchStrategy[str]:
    """Conditions; the few that match an empty text are never in force."""
    atom = _atoms(alphabet)
    bound = st.sampled_from(["\\b", "\\B", "^", "$"])
    repeated = st.tuples(atom, st.sampled_from(["*", "+", "?", "+?", "{2}", "{1,2}"])).map("".join)
    around = st.tuples(st.sampled_from(["(?=", "(?!", "(?<=", "(?<!"]), atom, st.just(")"))
    gap = st.just("[\\s\\S]*?")
    piece = st.one_of(atom, atom, repeated, bound, around.map("".join), gap)
    some = st.lists(piece, max_size=2).map("".join)
    run = st.tuples(some, atom, some).map("".join)
    either = st.tuples(run, run).map(lambda both: f"(?:{both[0]}|{both[1]})")
    body = st.one_of(run, either, st.tuples(either, some).map("".join))
    flags = st.sampled_from(["", "", "(?i)", "(?m)"])
    return st.tuples(flags, body).map("".join)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A rule in few words, as a failing example should show it."""

    conditions: tuple[str, ...]
    scope: str
    mode: InterruptMode
    context: ContextMode = ContextMode.KEEP


def rules(
    *,
    alphabet: str = BROAD,
    modes: Sequence[InterruptMode] = tuple(InterruptMode),
    scopes: Sequence[str] = _SCOPES,
    most: int = 3,
) -> st.SearchStrategy[list[Wanted]]:
    """One to `most` rules of one or two conditions."""
    one = st.builds(
        Wanted,
        st.lists(patterns(alphabet), min_size=1, max_size=2).map(tuple),
        st.sampled_from(scopes),
        st.sampled_from(modes),
        st.sampled_from(ContextMode),
    )
    return st.lists(one, min_size=1, max_size=most)


def late_rules() -> st.SearchStrategy[list[Wanted]]:
    """Rules on text whose matches are complete before they are decided, or are undone again."""
    parts = (["", "", "\\b", "(?<!b)"], ["ab", "ba", "aab", "a\\nb"], ["", "[ab]*", "a+", "\\n?"])
    ends = ["(?!a)", "(?!\\n)", "(?=b)", "(?!.*\\n)", "\\b", "+", "a", ""]
    condition = st.tuples(*map(st.sampled_from, (*parts, ends))).map("".join)
    modes = [InterruptMode.ALWAYS, InterruptMode.PROSE_ONLY, InterruptMode.ALWAYS]
    one = st.builds(
        Wanted,
        st.lists(condition, min_size=1, max_size=2).map(tuple),
        st.sampled_from(["text", "text", "text thinking"]),
        st.sampled_from([*modes, InterruptMode.NEVER]),
        st.sampled_from(ContextMode),
    )
    return st.lists(one, min_size=1, max_size=3)


def rule_set(wanted: Iterable[Wanted]) -> RuleSet:
    """Rules `r0`, `r1`, … in force."""
    made = [
        a_rule(
            f"r{number}",
            conditions=each.conditions,
            scope=tuple(map(_token, each.scope.split())),
            interrupt_mode=each.mode,
            context_mode=each.context,
        )
        for number, each in enumerate(wanted)
    ]
    return build(made, RuleSetOptions())


def _token(scope: str) -> ScopeToken:
    surface, _, tool = scope.partition(":")
    return ScopeToken(Surface(surface), tool or None)


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of an answer on one surface; for a call: its name and its raw arguments."""

    surface: Surface
    text: str
    name: str = ""


@st.composite
def answers(draw: st.DrawFn, *, alphabet: str = BROAD, calls: int = 2) -> tuple[Run, ...]:
    """An answer: prose, then calls, each with its arguments in any order of keys."""
    prose = st.builds(
        Run, st.sampled_from([Surface.TEXT, Surface.TEXT, Surface.THINKING]), texts(alphabet, 10, 1)
    )
    said = draw(st.lists(prose, max_size=3))
    called = [draw(tool_calls(alphabet=alphabet)) for _ in range(draw(st.integers(0, calls)))]
    return (*said, *called)


@st.composite
def mixed_answers(draw: st.DrawFn, *, alphabet: str = BROAD) -> tuple[Run, ...]:
    """An answer with its calls, if any, anywhere among its prose."""
    kinds = st.sampled_from([Surface.TEXT, Surface.TEXT, Surface.TEXT, Surface.THINKING])
    prose = st.builds(Run, kinds, texts(alphabet, 16, 1))
    said = draw(st.lists(prose, min_size=1, max_size=4))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        said.insert(draw(st.integers(0, len(said))), draw(tool_calls(alphabet=alphabet)))
    return tuple(said)


@st.composite
def tool_calls(draw: st.DrawFn, *, alphabet: str = BROAD) -> Run:
    """A finished call of one of the tools that the tests know."""
    source = texts(alphabet, 8)
    name = draw(st.sampled_from(["edit", "edits", "write"]))
    values: dict[str, object] = {"path": draw(st.sampled_from(["a.ts", "b.md"]))}
    match name:
        case "edit":
            values |= {"old": draw(source), "new": draw(source)}
        case "edits":
            edits = draw(st.lists(source, min_size=1, max_size=2))
            values["edits"] = [{"new": new, "old": "ab"} for new in edits]
        case _:
            values["content"] = draw(source)
    keys = draw(st.permutations(list(values)))
    ascii_only = draw(st.booleans())
    return Run(
        Surface.TOOL, json.dumps({k: values[k] for k in keys}, ensure_ascii=ascii_only), name
    )


def names_of(run: Run) -> tuple[str, ...]:
    """What a scope may call the tool of a call."""
    return ("edits", "edit") if run.name == "edits" else (run.name,)


def sources_of(run: Run) -> list[str]:
    """What a call would add, by the arguments' names."""
    values = json.loads(run.text)
    return [
        *(values[key] for key in ("new", "content") if key in values),
        *(edit["new"] for edit in values.get("edits", ())),
    ]


@dataclass(frozen=True, slots=True)
class Cut:
    """An answer as wire events, and how many of its units each event's end has reached."""

    events: tuple[Sequence[TurnEvent], ...]
    borders: tuple[int, ...]


def cut(answer: Iterable[Run], cuts: Iterable[int] | None) -> Cut:
    """Cut an answer at units (None: everywhere). A call's opening and each end are one unit."""
    wanted = None if cuts is None else set(cuts)
    events: list[Sequence[TurnEvent]] = []
    borders: list[int] = []
    at = calls = 0
    for run in answer:
        if run.surface is Surface.TOOL:
            at += 1
            events.append((ToolOpened(0, calls, f"id{calls}"), ToolNamed(0, calls, run.name)))
            borders.append(at)
            calls += 1
        size = len(run.text)
        inside = (n for n in range(1, size) if wanted is None or at + n in wanted)
        for start, end in pairwise([0, *inside, size]):
            events.append((_delta(run, calls - 1, run.text[start:end]),))
            borders.append(at + end)
        at += size
    closed = [ToolClosed(0, n) for n in range(calls)]
    events += [(FinishReason(0, "stop"),), (*closed, Finished())]
    borders += [at + 1, at + 2]
    return Cut(tuple(events), tuple(borders))


def _delta(run: Run, call: int, piece: str) -> TurnEvent:
    match run.surface:
        case Surface.TEXT:
            return TextDelta(0, piece)
        case Surface.THINKING:
            return ThinkingDelta(0, piece)
        case Surface.TOOL:
            return ToolArguments(0, call, piece)


@dataclass(slots=True)
class Course:
    """How an attempt went. `out`: by event that was fed, how many units were released then."""

    out: list[int] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    @property
    def last(self) -> Interrupt | Refuse | Complete:
        """The decision that ended the attempt."""
        ends = [d for d in self.decisions if isinstance(d, Interrupt | Refuse | Complete)]
        assert len(ends) == 1
        return ends[0]

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self.last.reminders if isinstance(self.last, Complete) else self.last.hits

    @property
    def cut(self) -> bool:
        return isinstance(self.last, Interrupt)


def follow(turn: Turn, attempt: Cut, now: float = 0.0) -> Course:
    """Feed an attempt to its end or to where the turn ends it."""
    course, out = Course(), 0
    for ordinal, events in enumerate(attempt.events):
        decisions = turn.feed(ordinal, events, now)
        course.decisions += decisions
        for decision in decisions:
            if isinstance(decision, Release):
                out = attempt.borders[decision.through]
        course.out.append(out)
        if any(isinstance(d, Interrupt | Refuse | Complete) for d in decisions):
            break
    return course


@dataclass(frozen=True, slots=True)
class Reads:
    """How events arrive: at most so many in each read, the rest one by one.

    `pause`: seconds from one read to the next. How texts in a row are fed: those of one read
    `together`, each `alone`, or each as an event like any other.
    """

    sizes: Sequence[int]
    pause: float = 0.0


Feeding = Literal["together", "alone", "as events"]


def follow_reads(
    turn: Turn, attempt: Cut, reads: Reads, feeding: Feeding, begin: float = 0.0
) -> list[list[Decision]]:
    """Feed an attempt to its end or to where the turn ends it; what it answered to each read."""
    answers: list[list[Decision]] = []
    left, at, now = list(reads.sizes), 0, begin
    while at < len(attempt.events):
        end = at + (left.pop(0) if left else 1)
        now += reads.pause
        answers.append(decisions := [])
        while at < min(end, len(attempt.events)):
            run = list(takewhile(_is_text, attempt.events[at:end]))
            count = 1 if feeding != "together" or not run else len(run)
            answer = _fed(turn, at, attempt.events[at : at + count], feeding, now)
            decisions += [d for d in answer if not isinstance(d, CheckStructure)]
            if any(isinstance(d, Interrupt | Refuse | Complete) for d in decisions):
                return answers
            at += count
    return answers


def _fed(
    turn: Turn, at: int, events: Sequence[Sequence[TurnEvent]], feeding: Feeding, now: float
) -> Sequence[Answer]:
    if feeding == "as events" or not _is_text(events[0]):
        return turn.feed(at, events[0], now)
    pieces = [event.text for (event,) in events if isinstance(event, TextDelta)]
    return turn.feed_text(at, 0, pieces, now)


def _is_text(events: Sequence[TurnEvent]) -> bool:
    return len(events) == 1 and isinstance(events[0], TextDelta)


def spoken(attempt: Cut, units: int, surface: Surface = Surface.TEXT) -> str:
    """The text of the events that end at or before so many units."""
    kind = TextDelta if surface is Surface.TEXT else ThinkingDelta
    return "".join(
        event.text
        for events, border in zip(attempt.events, attempt.borders, strict=True)
        for event in events
        if border <= units and isinstance(event, kind)
    )
