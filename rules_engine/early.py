"""Searches for structures in a call that still streams, so that it can be cut in the middle.

A source is searched at ends of lines, ever further apart, so that all its searches together cost
in proportion to it. Where they lie and what they find depend on the source alone. All searches of
an attempt are bounded, and one that is not done in time is the last; what they leave is searched
when the message is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine.closed import LANGUAGES, closable
from rules_engine.ruleset import LiveRule
from rules_engine.structures import StructureSearch
from rules_engine.triggers.structure import StructureTrigger, language_among

STEP = 1024  # characters between two searches of a source, at least
MOST = 256 * 1024  # characters that all searches of an attempt may go over


@dataclass(slots=True)
class EarlySearches:
    """What an attempt may search while its calls stream. `rules`: names of those that may cut."""

    rules: frozenset[str]
    left: int = MOST

    def afford(self, characters: int) -> bool:
        """Whether so many characters may still be searched; they count as searched then."""
        if characters > self.left:
            return False
        self.left -= characters
        return True


class EarlySource:
    """One growing source under the rules whose structures are searched in it early."""

    def __init__(
        self, language: str, structures: Sequence[tuple[LiveRule, tuple[StructureTrigger, ...]]]
    ) -> None:
        self._language = language
        self._structures = structures
        self._length = 0
        self._next = STEP

    def grow(self, piece: str) -> Sequence[int]:
        """Take in the next piece; give the lengths at which the source is to be searched."""
        before = self._length
        self._length += len(piece)
        points: list[int] = []
        while self._next <= self._length:
            at = piece.find("\n", max(0, self._next - 1 - before))
            if at < 0:
                self._next = self._length + 1
                break
            points.append(before + at + 1)
            self._next = max(points[-1] + STEP, points[-1] * 3 // 2)
        return points

    def search(
        self, text: str, hit: frozenset[str], searches: EarlySearches
    ) -> tuple[tuple[LiveRule, ...], StructureSearch] | None:
        """Look for what stands in whatever `text` goes on to be, by rules not in `hit` already.

        None where there is nothing to look for, or no more may be searched.
        """
        wanted = [(live, own) for live, own in self._structures if live.rule.name not in hit]
        if not wanted or not searches.afford(len(text)):
            return None
        by_name = tuple((live.rule.name, own) for live, own in wanted)
        search = StructureSearch(text, self._language, by_name, closed=True)
        return tuple(live for live, _ in wanted), search


def early_source(
    paths: tuple[str, ...], rules: Sequence[LiveRule], searches: EarlySearches | None
) -> EarlySource | None:
    """What is searched early in a source for these paths, or None where nothing can be."""
    if searches is None or not searches.rules:
        return None
    language = language_among(paths)
    if language is None or language not in LANGUAGES:
        return None
    chosen = (
        (live, tuple(s for s in live.structures if language in s.languages and closable(s)))
        for live in rules
        if live.rule.name in searches.rules
    )
    structures = [(live, own) for live, own in chosen if own]
    return EarlySource(language, structures) if structures else None
