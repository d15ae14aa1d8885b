"""How far one pattern has come in one text, when it is searched next, and what that may cost."""

from __future__ import annotations

from dataclasses import dataclass

from rules_engine.dialect import Pattern
from rules_engine.triggers.pattern import OverBudget

# A candidate that stays open longer than this is searched again only after the text behind it
# has grown by a quarter: linear cost in total, and positions stay exact (they are bisected).
PATIENCE = 16_384
FREE = 256  # shorter searches are not counted
# Work that one pattern may cause on one text while a match is pending, in characters gone over:
# some 50 ms. Each further place where a match may have begun is gone over again, up to a bound.
_WORK = 64_000_000
_WORK_PER_CHARACTER = 32
_MOST_STARTS = 64


@dataclass(slots=True)
class Progress:
    """How far one pattern has come.

    No match can begin before `floor`, nothing is certain on the first `known` characters. No
    search is `due` before the text is so long. `until`: length at which whatever was reported
    is decided (None: as long as a match may be pending). `touched`: a match may be pending.
    """

    floor: int = 0
    known: int = 0
    due: int = 0
    until: int | None = None
    touched: bool = False
    work: int = 0

    def put_off(self, length: int, floor: int) -> None:
        """A match has been pending since `floor`: say at which length it is searched again."""
        waiting = length - floor
        self.due = 0 if waiting <= PATIENCE else length + waiting // 4

    def charge(self, pattern: Pattern, text: str, floor: int) -> None:
        """Count a search of what is pending. Raises OverBudget once it has been too much."""
        size = len(text) - floor
        starts = 1
        if size > pattern.patience:
            begun = (text.count(prefix, floor) for prefix in pattern.prefixes)
            starts += min(sum(begun), _MOST_STARTS)
        self.work += size * starts
        if self.work > _WORK + len(text) * _WORK_PER_CHARACTER:
            raise OverBudget(pattern.source)
