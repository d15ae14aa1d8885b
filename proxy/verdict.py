"""What was found about rules on one output: gates, matches, what is held; as values and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proxy.inventory import Entry
from proxy.masking import single_line
from proxy.trial import Output

_SHOWN = 80


class GateName(StrEnum):
    """What an output must pass, in this order, for a rule to act."""

    IN_FORCE = "in force"
    SCOPE = "scope"
    GLOBS = "globs"
    TRIGGER = "trigger"
    REPEAT = "repeat policy"


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: whether the output passed it, and why."""

    name: GateName
    passed: bool
    says: str


@dataclass(frozen=True, slots=True)
class Match:
    """Where a trigger holds: span in the text that was searched, line and column from 1."""

    field: str
    source: str
    start: int
    end: int
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Held:
    """What a rule keeps from the client. `released`: characters in front of it; None for calls."""

    released: int | None
    characters: int
    says: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule on one output. `deed`: what a turn would do about it."""

    entry: Entry
    gates: tuple[Gate, ...]
    evaluated: bool
    triggered: bool
    matches: tuple[Match, ...] = ()
    deed: str | None = None
    decided: int | None = None
    held: Held | None = None

    @property
    def bundled(self) -> bool:
        """Whether the rule came with the proxy."""
        return self.entry.bundled

    @property
    def stopped_by(self) -> Gate | None:
        """The first gate that was not passed."""
        return next((gate for gate in self.gates if not gate.passed), None)


@dataclass(frozen=True, slots=True)
class Report:
    """Every rule with a trigger on one output. `quarantined`: rules that took too long."""

    output: Output
    verdicts: tuple[Verdict, ...]
    quarantined: tuple[str, ...]

    @property
    def triggered(self) -> tuple[Verdict, ...]:
        """The rules that the output breaks."""
        return tuple(verdict for verdict in self.verdicts if verdict.triggered)


def shown(text: str) -> str:
    """Text on one line, cut where it is long."""
    flat = single_line(text[: _SHOWN + 1])
    return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}…"


def fields(report: Report, agent: str, inferred: str | None) -> dict[str, Any]:
    """The report as JSON."""
    evaluated = [verdict for verdict in report.verdicts if verdict.evaluated]
    return {
        "surface": report.output.surface,
        "tool": report.output.tool,
        "path": report.output.path,
        "agent": agent,
        "inferred": inferred,
        "snippet": shown(report.output.text),
        "bytes": len(report.output.text.encode("utf-8", "surrogatepass")),
        "evaluated": [verdict.entry.name for verdict in evaluated],
        "triggered": [verdict.entry.name for verdict in evaluated if verdict.triggered],
        "not_triggered": [verdict.entry.name for verdict in evaluated if not verdict.triggered],
        "quarantined": list(report.quarantined),
        "rules": [_verdict_fields(verdict) for verdict in report.verdicts],
    }


def _verdict_fields(verdict: Verdict) -> dict[str, Any]:
    stopped, held, rule = verdict.stopped_by, verdict.held, verdict.entry.rule
    return {
        "name": verdict.entry.name,
        "path": verdict.entry.path,
        "triggered": verdict.triggered,
        "action": verdict.deed,
        "interruptMode": verdict.entry.mode,
        "question": rule.question if rule else None,
        "stopped_by": stopped.name if stopped else None,
        "gates": [
            {"gate": gate.name, "passed": gate.passed, "says": gate.says} for gate in verdict.gates
        ],
        "matches": [
            {
                "field": match.field,
                "source": match.source,
                "start": match.start,
                "end": match.end,
                "line": match.line,
                "column": match.column,
                "text": match.text,
            }
            for match in verdict.matches
        ],
        "decided": verdict.decided,
        "held": held
        and {"released": held.released, "characters": held.characters, "says": held.says},
    }
