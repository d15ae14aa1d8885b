"""Plays an attempt to a turn machine event by event and notes what it answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from rules_engine.decisions import Decision, Interrupt, Refuse, Release
from rules_engine.events import (
    Broken,
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
from rules_engine.turn import Turn

Wire = Sequence[TurnEvent]
D = TypeVar("D")


def text(*pieces: str) -> list[Wire]:
    """One wire event for each piece of text."""
    return [(TextDelta(0, piece),) for piece in pieces]


def thinking(*pieces: str) -> list[Wire]:
    """One wire event for each piece of reasoning."""
    return [(ThinkingDelta(0, piece),) for piece in pieces]


def call(number: int, name: str, arguments: object, *cuts: int) -> list[Wire]:
    """A call: opened with its name, then its JSON arguments cut at `cuts`."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    edges = [0, *cuts, len(raw)]
    pieces = [raw[a:b] for a, b in pairwise(edges)]
    opened: Wire = (ToolOpened(0, number, f"id{number}"), ToolNamed(0, number, name))
    return [opened, *((ToolArguments(0, number, piece),) for piece in pieces if piece)]


def done(*calls: int, reason: str = "stop") -> list[Wire]:
    """A finish reason, then the end mark with everything closed."""
    closed = [ToolClosed(0, number) for number in calls]
    return [(FinishReason(0, reason),), (*closed, Finished())]


def broken(*calls: int) -> list[Wire]:
    """The connection broke: what is open is closed."""
    return [(*(ToolClosed(0, number) for number in calls), Broken())]


@dataclass
class Heard:
    """What a turn answered to one attempt. `released`: wire events that went out, in order."""

    decisions: list[Decision] = field(default_factory=list)
    released: list[int] = field(default_factory=list)

    def of(self, kind: type[D]) -> list[D]:
        """The decisions of one kind, in order."""
        return [d for d in self.decisions if isinstance(d, kind)]


def play(turn: Turn, wires: Iterable[Wire], now: float = 0.0) -> Heard:
    """Feed an attempt; stops where the turn stops it."""
    heard = Heard()
    out = 0
    for ordinal, events in enumerate(wires):
        for decision in turn.feed(ordinal, events, now):
            heard.decisions.append(decision)
            if isinstance(decision, Release):
                span = range(out, decision.through + 1)
                heard.released += [n for n in span if n not in decision.dropped]
                out = decision.through + 1
        if any(isinstance(d, Interrupt | Refuse) for d in heard.decisions):
            break
    return heard
