"""Pattern triggers: one condition compiled to its three forms, with limits.

Texts may be given with astral characters whole or split into surrogate halves; every position
is told in elements of the text as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import regex

from rules_engine.dialect import Pattern
from rules_engine.dialect.units import has_astral, split_units

_SEARCH_SECONDS = 0.010
# A search that is linear but long is no fault of its rule.
_SECONDS_PER_UNIT = 1e-7


class OverBudget(Exception):  # noqa: N818 - a state of affairs that the windows handle
    """A search took longer than its time limit, so its answer is not known."""


class Span(NamedTuple):
    """A match: from `start` to before `end`."""

    start: int
    end: int


class Certain(NamedTuple):
    """A match that no further text can undo, found on the first `decided` elements of the text."""

    start: int
    end: int
    decided: int


@dataclass(frozen=True, slots=True)
class PatternTrigger:
    """Searches one pattern in the window of one surface.

    In all methods `floor` is where a match may begin at the earliest, and matches that end at
    or before `beyond` do not count, but those that cross it do.
    """

    pattern: Pattern

    def certain(self, text: str, floor: int, known: int, *, beyond: int = 0) -> Certain | None:
        """Find the match that is decided first.

        None if nothing is decided. `known`: the length that was already searched without a
        hit, 0 for nothing. Raises OverBudget.
        """
        compiled = self.pattern.streaming
        if compiled is None or len(text) < max(floor + self._least(text), beyond):
            return None
        if self._has_nothing(compiled, text, floor):
            return None
        view = _View.of(self.pattern, text, floor)
        search = _Search(self.pattern, compiled, view.units, view.inward(floor))
        found = search.find(len(view.units))
        if found is not None and beyond:
            search = search.crossing(view.inward(beyond))
            found = search.find(len(view.units))
        if found is None:
            return None
        search = search.starting(found[0])
        decided = search.first_length(view.inward(known))
        start, end = search.span(decided)
        return Certain(view.outward(start), view.outward_end(end), view.outward_end(decided))

    def final(self, text: str, floor: int, *, beyond: int = 0) -> Span | None:
        """Find the first match in a text that has ended. Raises OverBudget."""
        view = _View.of(self.pattern, text, floor)
        search = _Search(self.pattern, self.pattern.final, view.units, view.inward(floor))
        found = search.find(len(view.units))
        if found is not None and beyond and found[1] <= view.inward(beyond):
            found = search.find_crossing(view.inward(beyond))
        return None if found is None else Span(view.outward(found[0]), view.outward_end(found[1]))

    def hold(self, text: str, floor: int, *, beyond: int = 0) -> int:
        """Say from where on a match may still come; the text's length if from nowhere.

        It never moves back while the text grows, so it is the next floor. Raises OverBudget.
        """
        pattern = self.pattern
        if not pattern.in_units or text.isascii():
            length = len(text)
            reach = length if pattern.behind is None else length - floor
            if not beyond and reach <= pattern.patience:  # the common case, without a detour
                begun = pattern.hold.search(text, floor)
                return length if begun is None else begun.start()
            known = _find(pattern, pattern.hold, text, floor, length)
            if known is None or not beyond:
                return length if known is None else known[0]
        view = _View.of(self.pattern, text, floor)
        search = _Search(self.pattern, self.pattern.hold, view.units, view.inward(floor))
        found = search.find(len(view.units))
        if found is not None and beyond:
            found = search.pending(view.inward(beyond)).find(len(view.units))
        return len(text) if found is None else view.outward(found[0])

    def _has_nothing(self, compiled: regex.Pattern[str], text: str, floor: int) -> bool:
        """Answer the common case at the price of one search; False if a closer look is needed."""
        if self.pattern.in_units and not text.isascii():
            return False
        return _find(self.pattern, compiled, text, floor, len(text)) is None

    def _least(self, text: str) -> int:
        # Split into halves, a text may be up to twice as long.
        least = self.pattern.min_width
        return least if text.isascii() else (least + 1) // 2


def _find(
    pattern: Pattern, compiled: regex.Pattern[str], units: str, floor: int, length: int
) -> tuple[int, int] | None:
    """Search within the pattern's time limit, which is only set where it can be needed."""
    reach = length if pattern.behind is None else length - floor
    try:
        if reach <= pattern.patience:
            found = compiled.search(units, floor, length)
        else:
            limit = _SEARCH_SECONDS + reach * _SECONDS_PER_UNIT
            found = compiled.search(units, floor, length, timeout=limit)
    except TimeoutError:
        raise OverBudget(pattern.source) from None
    return None if found is None else found.span()


@dataclass(frozen=True, slots=True)
class _Search:
    """One form of a pattern, to be searched in prefixes of one text."""

    pattern: Pattern
    compiled: regex.Pattern[str]
    units: str
    floor: int

    def find(self, length: int) -> tuple[int, int] | None:
        """Find the first match in the first `length` units."""
        return _find(self.pattern, self.compiled, self.units, self.floor, length)

    def span(self, length: int) -> tuple[int, int]:
        """Find the match that is known to be in the first `length` units."""
        found = self.find(length)
        assert found is not None
        return found

    def starting(self, floor: int) -> _Search:
        """Search from further on.

        Where the first match of the whole text begins, for one: what matches in less of the text
        matches in all of it, so it begins no earlier.
        """
        return _Search(self.pattern, self.compiled, self.units, floor)

    def first_length(self, known: int) -> int:
        """Find the shortest length with a match; `known` has none, the whole text has one.

        Bisection is right because a decided match stays one in every longer prefix.
        """
        # Nothing known is not the same as the empty text searched.
        low, high = max(known or -1, self.floor - 1), len(self.units)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.find(middle) is not None else (middle, high)
        return high

    def crossing(self, beyond: int) -> _Search:
        """Search only for what ends behind `beyond`, whichever way of matching that takes."""
        return self._ending(f"(?<=(?s:.){{{beyond + 1}}})")

    def find_crossing(self, beyond: int) -> tuple[int, int] | None:
        """Find the first match in the whole text that ends behind `beyond`."""
        if not self.pattern.native:
            return self.crossing(beyond).find(len(self.units))
        # Foreign syntax cannot be built upon, so its matches are gone through.
        limit = _SEARCH_SECONDS + len(self.units) * _SECONDS_PER_UNIT
        every = self.compiled.finditer(self.units, self.floor, overlapped=True, timeout=limit)
        try:
            return next((found.span() for found in every if found.end() > beyond), None)
        except TimeoutError:
            raise OverBudget(self.pattern.source) from None

    def pending(self, beyond: int) -> _Search:
        """Search only for what could end behind `beyond`."""
        return self._ending(rf"(?:\Z|(?<=(?s:.){{{beyond + 1}}}))")

    def _ending(self, condition: str) -> _Search:
        text = f"(?:{self.compiled.pattern}){condition}"
        compiled = regex.compile(text, self.compiled.flags)
        return _Search(self.pattern, compiled, self.units, self.floor)


@dataclass(frozen=True, slots=True)
class _View:
    """A text as its pattern must see it, and the way between the positions of both.

    Only the text from `cut` on is converted, as far back as the pattern looks.
    """

    text: str
    units: str
    cut: int

    @classmethod
    def of(cls, pattern: Pattern, text: str, floor: int) -> _View:
        """Split astral characters where the pattern can tell the difference."""
        if not pattern.in_units or text.isascii():
            return cls(text, text, -1)
        # One more than the pattern looks back, so that the cut is not taken for the beginning.
        cut = 0 if pattern.behind is None else max(0, floor - pattern.behind - 1)
        if not has_astral(text, cut):
            return cls(text, text, -1)
        return cls(text, split_units(text[cut:]), cut)

    def inward(self, position: int) -> int:
        """Give the unit where an element of the text begins."""
        if self.cut < 0:
            return position
        return len(split_units(self.text[self.cut : max(position, self.cut)]))

    def outward(self, unit: int) -> int:
        """Give the element of the text that the unit belongs to."""
        if self.cut < 0:
            return unit
        return self.cut + _elements(self.text[self.cut :], unit)

    def outward_end(self, unit: int) -> int:
        """Give the position behind the last element that the first units reach into."""
        whole = self.outward(unit)
        return whole if self.inward(whole) == unit else whole + 1


def _elements(text: str, units: int) -> int:
    """How many whole elements of the text are spelt by its first `units` units."""
    low, high = units // 2, min(units, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if len(split_units(text[:middle])) <= units:
            low = middle
        else:
            high = middle - 1
    return low
