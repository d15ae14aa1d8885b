"""Structure triggers on the source of calls: what is to be searched, and what was found.

Searching may take long, so whoever runs the turn does it, in another process unless the source is
tiny, and tells the turn what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine.closed import ClosedStatements
from rules_engine.ruleset import LiveRule
from rules_engine.triggers.structure import LARGEST, SourceTree, Span, StructureTrigger

CallNumber = tuple[int, int]  # choice and call


@dataclass(frozen=True, slots=True)
class StructureSearch:
    """One text and the structures of each rule that watches it; can be pickled.

    `closed`: the text may go on, so only its closed statements count.
    """

    text: str
    language: str
    structures: tuple[tuple[str, tuple[StructureTrigger, ...]], ...]  # by rule name
    closed: bool = False

    def run(self) -> tuple[tuple[str, Span], ...]:
        """Give each rule that has a match, with its first."""
        if self.closed:
            return self.run_closed()
        found = self._matches(SourceTree(self.text, self.language))
        return tuple((name, min(spans)) for name, spans in found)

    def run_closed(self) -> tuple[tuple[str, Span], ...]:
        """Give each rule that has a match in the closed statements of a text that may go on."""
        tree = SourceTree(self.text, self.language)
        if not self._matches(tree):
            return ()
        closed = ClosedStatements(self.text, tree)
        found = [
            (name, [span for span in spans if closed.hold(span)])
            for name, spans in self._matches(closed.tree)
        ]
        return tuple((name, min(spans)) for name, spans in found if spans)

    def _matches(self, tree: SourceTree) -> Sequence[tuple[str, Sequence[Span]]]:
        """Give the first match of each structure, by rule."""
        by_rule = (
            (name, [span for span in (trigger.find(tree) for trigger in triggers) if span])
            for name, triggers in self.structures
        )
        return [(name, spans) for name, spans in by_rule if spans]


@dataclass(frozen=True, slots=True)
class StructureJob:
    """A search in one section of a call.

    `arrival`: while the call streams, the offset in its raw arguments at which a hit is decided.
    """

    call: CallNumber
    section: str
    paths: tuple[str, ...]
    rules: tuple[LiveRule, ...]
    search: StructureSearch
    arrival: int = 0


@dataclass(frozen=True, slots=True)
class CheckStructure:
    """Nothing more can be decided without these searches: run them and tell `Turn.checked`."""

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
