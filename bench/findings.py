"""Sections of the report, and measured values held against their targets."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A target with what was measured. `met` is None where it was not measured.

    `ours` and `reference`: the two values of a ratio, with their units.
    """

    number: str
    what: str
    target: str
    measured: str
    met: bool | None
    ours: str = ""
    reference: str = ""

    @property
    def verdict(self) -> str:
        """In a word."""
        return {True: "met", False: "**missed**", None: "-"}[self.met]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: Markdown below a heading. `faults`: what could not be measured."""

    title: str
    lines: Sequence[str]
    findings: Sequence[Finding] = ()
    faults: Sequence[str] = ()

    def as_json(self) -> str:
        """For the process that asked for it."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Section:
        """What `as_json` wrote."""
        told = json.loads(text)
        return cls(**told | {"findings": [Finding(**each) for each in told["findings"]]})

    def markdown(self) -> str:
        """The section, with its targets behind it."""
        judged = ["", "Targets:", "", *verdicts(self.findings)] if self.findings else []
        faults = (
            ["", "Faults:", "", *(f"- {fault}" for fault in self.faults)] if self.faults else []
        )
        return "\n".join([f"## {self.title}", "", *self.lines, *judged, *faults, ""])


def at_most(
    number: str,
    what: str,
    limit: float,
    value: float | None,
    unit: str = "",
    *,
    sides: tuple[str, str] = ("", ""),
) -> Finding:
    """Judge a value that should be small; None was not measured. `sides`: ours, the reference."""
    return _judged((number, what), ("<=", limit), value, unit, sides)


def at_least(
    number: str,
    what: str,
    limit: float,
    value: float | None,
    unit: str = "",
    *,
    sides: tuple[str, str] = ("", ""),
) -> Finding:
    """Judge a value that should be great; None was not measured. `sides`: ours, the reference."""
    return _judged((number, what), (">=", limit), value, unit, sides)


def _judged(
    named: tuple[str, str],
    bound: tuple[str, float],
    value: float | None,
    unit: str,
    sides: tuple[str, str],
) -> Finding:
    sign, limit = bound
    target = f"{sign} {limit:g}{unit}"
    if value is None:
        return Finding(*named, target, "not measured", None, *sides)
    met = value <= limit if sign == "<=" else value >= limit
    return Finding(*named, target, f"{value:.3g}{unit}", met, *sides)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    dashes = "| " + " | ".join("---" for _ in head) + " |"
    return [_line(head), dashes, *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def verdicts(findings: Sequence[Finding]) -> list[str]:
    """The table of targets."""
    head = ("#", "what", "ours", "reference", "measured", "target", "verdict")
    rows = [
        (f.number, f.what, f.ours, f.reference, f.measured, f.target, f.verdict) for f in findings
    ]
    return table(head, rows)


def main(section: Callable[[int], Section], usual: int) -> None:
    """Run one bench alone: with how much of it, as Markdown or for the report."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("amount", type=int, nargs="?", default=usual)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    found = section(given.amount)
    print(found.as_json() if given.json else found.markdown())
