"""Structure triggers at a message's end: what is to be searched, and what was found.

Searching may take long, so whoever runs the turn does it, on another thread or process if the
source is large, and tells the turn what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine.ruleset import LiveRule
from rules_engine.triggers.structure import LARGEST, SourceTree, Span, StructureTrigger

CallNumber = tuple[int, int]  # choice and call


@dataclass(frozen=True, slots=True)
class StructureSearch:
    """One finished text and the structures of each rule that watches it; can be pickled."""

    text: str
    language: str
    structures: tuple[tuple[str, tuple[StructureTrigger, ...]], ...]  # by rule name

    def run(self) -> tuple[tuple[str, Span], ...]:
        """Parse once; give each rule that has a match, with its first."""
        tree = SourceTree(self.text, self.language)
        found = []
        for name, triggers in self.structures:
            spans = [span for span in (trigger.find(tree) for trigger in triggers) if span]
            if spans:
                found.append((name, min(spans)))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class StructureJob:
    """A search in one section of a call."""

    call: CallNumber
    section: str
    paths: tuple[str, ...]
    rules: tuple[LiveRule, ...]
    search: StructureSearch


@dataclass(frozen=True, slots=True)
class CheckStructure:
    """The message is over but for these searches: run them and tell `Turn.checked`."""

    jobs: tuple[StructureJob, ...]


@dataclass(frozen=True, slots=True)
class StructureResult:
    """What one job found: rules by name. `unchecked`: it took too long, or failed."""

    job: StructureJob
    found: tuple[tuple[str, Span], ...] = ()
    unchecked: bool = False


def job_of(
    call: CallNumber,
    section: str,
    paths: tuple[str, ...],
    text: str,
    *,
    language: str | None,
    rules: Sequence[LiveRule],
) -> StructureJob | None:
    """The search of one section, or None where no rule has anything to look for in it."""
    fitting = tuple(
        (live, tuple(s for s in live.structures if language in s.languages)) for live in rules
    )
    wanted = tuple((live, structures) for live, structures in fitting if structures)
    if language is None or not wanted or not text.strip():
        return None
    by_name = tuple((live.rule.name, structures) for live, structures in wanted)
    lives = tuple(live for live, _ in wanted)
    return StructureJob(call, section, paths, lives, StructureSearch(text, language, by_name))


def too_large(text: str) -> bool:
    """Whether a text is left unchecked."""
    return len(text) > LARGEST
