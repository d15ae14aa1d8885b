"""Blocks whose lines are a patch: they end with a line, and patch readers know the rest."""

from __future__ import annotations

from collections.abc import Callable

import regex

from rules_engine.families import ToolFamily
from rules_engine.growth import Growth
from rules_engine.patches import PatchReader
from rules_engine.reader import TextReader
from rules_engine.sections import PatchText

MakeReader = Callable[[Growth], PatchReader]


class LinesBlock:
    """A block of patch lines; `end` is matched at the beginning of each line."""

    tool = "edit"

    def __init__(
        self, end: regex.Pattern[str], make: MakeReader, named: tuple[str, ...] = ()
    ) -> None:
        self.named = named
        self._end = end
        self._make = make
        self._fresh = True

    def take(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        """Take whole lines, and what of the last one is certain not to end the block."""
        while at < len(text):
            if self._fresh:
                found = self._end.match(text, at, partial=not final)
                if found is not None:
                    return (at, False) if found.partial else (found.end(), True)
                self._fresh = False
            newline = text.find("\n", at)
            if newline < 0:
                return len(text), False
            at, self._fresh = newline + 1, True
        return at, False

    def reader(self, _families: tuple[ToolFamily, ...], paths: tuple[str, ...]) -> LinesReader:
        """Make the reader of the lines."""
        return LinesReader(self._make, self.named or paths)


class LinesReader(TextReader):
    """Reads patch lines. `paths`: the file of hunks that name none."""

    def __init__(self, make: MakeReader, paths: tuple[str, ...]) -> None:
        super().__init__(())
        self._paths = paths
        self._patch = PatchText(make(self._growth), self._growth, "edit", ("edit",), 0, (), (), [])

    def _begin(self, families: tuple[ToolFamily, ...]) -> None:
        """Nothing depends on the name."""

    def _piece(self, text: str, start: int) -> None:
        self._add(self._patch.feed(text, start, self._windows), self._paths)

    def _end(self) -> None:
        self._add(self._patch.close(self._windows, self._fed), self._paths)
