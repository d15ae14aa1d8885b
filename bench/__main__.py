"""`python -m bench`: every bench, and one report of it in Markdown.

The exit code is 1 where our own proxy could not be measured; a missed target is no fault.
"""

from __future__ import annotations

import argparse
import dataclasses
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import machine, relay
from bench.cuts import TRIPLES
from bench.findings import Finding, Section, verdicts
from bench.processes import end_in_order
from bench.soak.run import OUTCOME

# Each in a process of its own: what one has in memory must not slow the next.
_ALONE = {"engine": (5, 1), "request": (7, 1), "rules": (1000, 20), "cuts": (TRIPLES, 200)}
_PARTS = (*_ALONE, "relay")
_NO_SOAK = Finding("18", "200 streams, mixed faults, half an hour", "1.05x", "`make soak`", None)


def main() -> int:
    given = _arguments()
    # A mistyped name is told now, not when its turn comes.
    relay.refuse_unknown(given.peers or ())
    end_in_order()
    began = time.monotonic()
    facts = machine.lines()
    sections: list[Section] = []
    for part in given.only or _PARTS:
        sections.append(_section(part, given))
        # Whatever becomes of the parts that follow, what is measured stays.
        minutes = (time.monotonic() - began) / 60
        text = _report(facts, [*sections, _soak(given.soak)], minutes)
        given.out.write_text(text, encoding="utf-8")
    print(f"written to {given.out}", file=sys.stderr)
    faults = [fault for section in sections for fault in section.faults]
    for fault in faults:
        print(f"not measured: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    arguments.add_argument("--out", type=Path, default=Path("bench/report.md"))
    arguments.add_argument("--soak", type=Path, default=OUTCOME, help="what `make soak` left")
    arguments.add_argument("--rounds", type=int, default=5)
    names = "names with spaces between; without: all there are"
    arguments.add_argument("--peers", type=str.split, help=names)
    arguments.add_argument("--only", choices=_PARTS, action="append", help="a part of it; again")
    arguments.add_argument("--quick", action="store_true", help="see that it runs, no figures")
    return arguments.parse_args()


def _section(part: str, given: argparse.Namespace) -> Section:
    _say(f"== {part}")
    began = time.monotonic()
    section = _measured(part, given)
    _say(f"   {part}: {(time.monotonic() - began) / 60:.1f} min")
    return section


def _measured(part: str, given: argparse.Namespace) -> Section:
    if part == "relay":
        plan = relay.QUICK if given.quick else dataclasses.replace(relay.FULL, rounds=given.rounds)
        return relay.section(plan, given.peers, _say)
    usual, little = _ALONE[part]
    amount = little if given.quick else given.rounds if part == "engine" else usual
    argv = (sys.executable, "-m", f"bench.{part}", str(amount), "--json")
    ran = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - ours
    if ran.returncode:
        why = f"bench.{part} ended with {ran.returncode}; stderr has its reason"
        return Section(part.capitalize(), [], faults=[why])
    return Section.from_json(ran.stdout)


def _soak(outcome: Path) -> Section:
    """The last soak, which takes half an hour and is a run of its own."""
    if not outcome.exists():
        return Section("Soak", ["Not run: `make soak`, a target of its own."], [_NO_SOAK])
    section = Section.from_json(outcome.read_text(encoding="utf-8"))
    return dataclasses.replace(section, title="Soak")


def _report(facts: Sequence[str], sections: Sequence[Section], minutes: float) -> str:
    return "\n".join(_paragraphs(facts, sections, minutes)) + "\n"


def _paragraphs(facts: Sequence[str], sections: Sequence[Section], minutes: float) -> Iterator[str]:
    yield "# What ttsr-proxy costs"
    yield ""
    yield f"Measured in {minutes:.0f} minutes. How to read it: docs/performance.md."
    yield "Figures of different machines do not compare; ratios do."
    yield ""
    yield from facts
    yield from ("", "## Targets", "")
    found = [finding for section in sections for finding in section.findings]
    yield from verdicts(sorted(found, key=_order))
    met, judged = sum(f.met is True for f in found), sum(f.met is not None for f in found)
    yield from ("", f"{met} of {judged} are met, {len(found) - judged} were not measured.")
    for section in sections:
        yield from ("", f"## {section.title}", "", *section.lines)
        yield from (f"- at fault: {fault}" for fault in section.faults)


def _order(finding: Finding) -> float:
    """By number; what `safe` may cost stands behind what else is judged paced."""
    return float(finding.number) if finding.number.isdigit() else 8.5


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
