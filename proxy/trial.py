"""One finished output through a real turn, as if a model had just written it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.agents import tool_families
from proxy.assembly import known_agents
from proxy.config import Settings
from proxy.relay import turn_options
from rules_engine.decisions import (
    Complete,
    Decision,
    Hit,
    Interrupt,
    Observe,
    Quarantined,
    Refuse,
    Withhold,
)
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
from rules_engine.families import HEURISTIC, ToolFamily, named, parsed
from rules_engine.policy import TurnOptions
from rules_engine.ruleset import LiveRule, RuleSet
from rules_engine.scope import Surface
from rules_engine.structures import CheckStructure, StructureResult
from rules_engine.tools import Section, make_reader
from rules_engine.turn import Facts, Turn


@dataclass(frozen=True, slots=True)
class Ground:
    """What the server knows besides the output. `workspace`: the root of relative paths."""

    families: tuple[ToolFamily, ...]
    workspace: str
    options: TurnOptions

    @classmethod
    def of(cls, settings: Settings) -> Ground:
        """Take it from the settings, for an agent that is not recognised."""
        return cls(
            tool_families(known_agents(settings), ""),
            str(settings.workspace.resolve()),
            turn_options(settings, streaming=True),
        )


@dataclass(frozen=True, slots=True)
class Output:
    """What a model wrote. A tool's output is the source that its call adds to `path`."""

    text: str
    surface: Surface
    tool: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """The first hit of each rule, and rules that took too long and were set aside."""

    hits: tuple[Hit, ...]
    quarantined: tuple[str, ...]


def observe(ruleset: RuleSet, output: Output, ground: Ground) -> Observed:
    """Find every hit; none of them cuts the output short."""
    decisions = _run(_turn(ruleset, output, ground, observe=True), output, ground)
    hits: dict[str, Hit] = {}
    for decision in decisions:
        for hit in decision.hits if isinstance(decision, Observe) else ():
            hits.setdefault(hit.rule.name, hit)
    aside = (each.rule.name for each in decisions if isinstance(each, Quarantined))
    return Observed(tuple(hits.values()), tuple(dict.fromkeys(aside)))


def deed(live: LiveRule, output: Output, ground: Ground) -> str | None:
    """Say what a fresh conversation's turn does about the output, were this the only rule."""
    alone = RuleSet("", (live,), (), ())
    for decision in _run(_turn(alone, output, ground, observe=False), output, ground):
        match decision:
            case Interrupt():
                return "interrupt"
            case Refuse() | Withhold():
                return "refusal"
            case Complete(reminders) if reminders:
                return "reminder"
            case _:
                pass
    return None


def holds_calls(live: LiveRule, output: Output, ground: Ground) -> bool:
    """Whether the rule makes calls of the output's tool wait for the message's end."""
    alone = RuleSet("", (live,), (), ())
    return _turn(alone, output, ground, observe=False).holds_calls()


def sections(output: Output, ground: Ground) -> tuple[Section, ...]:
    """Give the places of a call where it adds source, as the server reads them."""
    reader = make_reader(ground.families, freeform=False)
    reader.name(output.tool or "")
    reader.feed(arguments(output, ground.families))
    reader.close()
    return reader.sections


def arguments(output: Output, families: Sequence[ToolFamily]) -> str:
    """Write the arguments of a call that adds the text to the file, as JSON.

    A tool that is not known gets `path` and `text`, which claim to be neither edit nor write.
    """
    wanted = output.path is not None
    known = [each for each in named(families, output.tool or "") if each.added]
    known.sort(key=lambda family: bool(family.paths) is not wanted)
    family = known[0] if known else _NEUTRAL
    value: dict[str, Any] = {}
    if output.path is not None and family.paths:
        _put(value, family.paths[0], output.path)
    for argument, values in family.where:
        _put(value, argument, values[0])
    _put(value, family.added[0], output.text)
    return json.dumps(value, ensure_ascii=False)


def position(text: str, at: int) -> tuple[int, int]:
    """Line and column, both from 1, of a character of a text."""
    start = text.rfind("\n", 0, at) + 1
    return text.count("\n", 0, at) + 1, at - start + 1


_NEUTRAL = ToolFamily((), (), paths=HEURISTIC[0].paths[:1], added=("text",))


def _put(value: dict[str, Any], argument: str, text: str) -> None:
    """Set `edits[].newText` and the like; every list has one element."""
    place: Any = value
    steps = tuple(0 if step is None else step for step in parsed(argument))
    for step, following in zip(steps, (*steps[1:], None), strict=True):
        if following is None:
            empty: Any = text
        else:
            empty = [] if isinstance(following, int) else {}
        if isinstance(place, list):
            if not place:
                place.append(empty)
            place = place[0]
        else:
            place = place.setdefault(step, empty)


def _turn(ruleset: RuleSet, output: Output, ground: Ground, *, observe: bool) -> Turn:
    facts = Facts(
        tools=(output.tool,) if output.tool else (),
        families=ground.families,
        workspace=ground.workspace,
        observe=observe,
    )
    return Turn(ruleset, facts, ground.options, {}, 0.0)


def _run(turn: Turn, output: Output, ground: Ground) -> list[Decision | CheckStructure]:
    decisions: list[Decision | CheckStructure] = []
    for ordinal, event in enumerate(_events(output, ground.families)):
        for decision in turn.feed(ordinal, (event,), 0.0):
            decisions += _searched(turn, decision)
        if any(isinstance(each, Interrupt | Refuse | Complete) for each in decisions):
            break
    return decisions


def _searched(
    turn: Turn, decision: Decision | CheckStructure
) -> Iterator[Decision | CheckStructure]:
    """Run the searches that a turn asks for, at once."""
    if not isinstance(decision, CheckStructure):
        yield decision
        return
    results = [StructureResult(job, job.search.run()) for job in decision.jobs]
    for later in turn.checked(results, 0.0):
        yield from _searched(turn, later)


def _events(output: Output, families: Sequence[ToolFamily]) -> Iterator[TurnEvent]:
    match output.surface:
        case Surface.TEXT:
            yield TextDelta(0, output.text)
        case Surface.THINKING:
            yield ThinkingDelta(0, output.text)
        case Surface.TOOL:
            yield ToolOpened(0, 0, "call_trial")
            yield ToolNamed(0, 0, output.tool or "")
            yield ToolArguments(0, 0, arguments(output, families))
            yield ToolClosed(0, 0)
    yield FinishReason(0, "tool_calls" if output.surface is Surface.TOOL else "stop")
    yield Finished()
