"""Structures on a finished call: which of its sections are to be parsed, and what hits in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rules_engine.globs import path_candidates
from rules_engine.ruleset import LiveRule
from rules_engine.scope import Surface
from rules_engine.tools import Section
from rules_engine.triggers.structure import (
    LARGEST,
    SourceTree,
    Span,
    StructureTrigger,
    language_among,
)


@dataclass(frozen=True, slots=True)
class StructureHit:
    """A structure was found: the rule's name, the section's key, the span in the section's text."""

    rule: str
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StructureCheck:
    """One section's source with the structures to look for in it, by the names of their rules.

    Parsing keeps the interpreter's lock (about a second for a megabyte), so what is large belongs
    into another process; a check can be pickled for that.
    """

    key: str
    text: str
    language: str
    wanted: tuple[tuple[str, tuple[StructureTrigger, ...]], ...]

    @property
    def too_large(self) -> bool:
        """Whether the text must not be parsed at all, so that it stays unchecked."""
        return len(self.text) > LARGEST

    def run(self) -> tuple[StructureHit, ...]:
        """Parse once and search for everything; a rule hits at most once."""
        return tuple(self._hits(SourceTree(self.text, self.language)))

    def _hits(self, tree: SourceTree) -> Iterator[StructureHit]:
        for rule, structures in self.wanted:
            found: list[Span] = [span for each in structures if (span := each.find(tree))]
            if found:
                yield StructureHit(rule, self.key, *min(found))


def structure_checks(
    live_rules: Iterable[LiveRule], sections: Iterable[Section], workspace: str | None = None
) -> tuple[StructureCheck, ...]:
    """Say what there is to check on a finished call.

    Each edit is a text of its own. Nothing is checked where no path tells a known language, or
    where no rule with structures watches the section.
    """
    rules = [live for live in live_rules if live.structures]
    return tuple(_checks(rules, sections, workspace)) if rules else ()


def _checks(
    rules: list[LiveRule], sections: Iterable[Section], workspace: str | None
) -> Iterator[StructureCheck]:
    for section in sections:
        language = language_among(section.paths)
        if language is None or not section.text:
            continue
        candidates = tuple(
            form for path in section.paths for form in path_candidates(path, workspace)
        )
        wanted = tuple(
            (live.rule.name, live.structures)
            for live in rules
            if live.rule.watches(Surface.TOOL, section.names, candidates)
        )
        if wanted:
            yield StructureCheck(section.key, section.text, language, wanted)


def structure_hits(
    live_rules: Iterable[LiveRule], sections: Iterable[Section], workspace: str | None = None
) -> tuple[StructureHit, ...]:
    """Check a finished call here and now; sections that are too large are passed over."""
    checks = structure_checks(live_rules, sections, workspace)
    return tuple(hit for check in checks if not check.too_large for hit in check.run())
