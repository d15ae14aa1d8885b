"""Text that only grows, and where in the raw argument text each of its characters came from."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

_LOST = "\ufffd"
_HIGH = range(0xD800, 0xDC00)
_LOW = range(0xDC00, 0xE000)
_UNITS = re.compile(r"[^\ud800-\udfff]+|[\ud800-\udfff]")


class Growth:
    """Text that only grows, and the offset in its source at which each character was known.

    `parent` None: the source is the raw argument text. Otherwise the source is the text of
    `parent`, and `arrival` follows the chain down to the raw text.
    """

    __slots__ = ("_ends", "_joined", "_pieces", "_shifts", "_starts", "length", "parent")

    def __init__(self, parent: Growth | None = None) -> None:
        self.parent = parent
        self.length = 0
        self._pieces: list[str] = []
        self._ends: list[int] = []
        self._starts: list[int] = []
        self._shifts: list[int] = []
        self._joined = ""

    def append(self, text: str, first: int) -> None:
        """Add `text`; its first character was known at source offset `first`, each next at +1."""
        if not text:
            return
        shift = first - (self.length + 1)
        if not self._shifts or self._shifts[-1] != shift:
            self._starts.append(self.length)
            self._shifts.append(shift)
        self.length += len(text)
        self._pieces.append(text)
        self._ends.append(self.length)

    def append_late(self, text: str, known: int) -> None:
        """Add `text` whose every character was known only at source offset `known`."""
        for character in text:
            self.append(character, known)

    @property
    def text(self) -> str:
        """Everything so far. Costs a copy after growth; `since` is the cheap way to follow it."""
        if len(self._joined) != self.length:
            self._joined += self.since(len(self._joined))
        return self._joined

    def since(self, length: int) -> str:
        """Give what was added behind the first `length` characters."""
        at = bisect_right(self._ends, length)
        if at == len(self._pieces):
            return ""
        skip = length - (self._ends[at] - len(self._pieces[at]))
        return self._pieces[at][skip:] + "".join(self._pieces[at + 1 :])

    def arrival(self, length: int) -> int:
        """Give the raw offset after which the first `length` characters were known (0 for none)."""
        length = min(length, self.length)
        if length <= 0:
            return 0
        offset = length + self._shifts[bisect_left(self._starts, length) - 1]
        return offset if self.parent is None else self.parent.arrival(offset)


class Joiner:
    """Writes UTF-16 units into a growth: two halves become one character, a lone one U+FFFD.

    A high half is kept back until what follows it is known.
    """

    __slots__ = ("_half", "growth")

    def __init__(self, growth: Growth) -> None:
        self.growth = growth
        self._half: int | None = None

    def run(self, text: str, start: int) -> None:
        """Add text without halves that stands at source offset `start`."""
        if self._half is not None:
            self.end(start + 1)
        self.growth.append(text, start + 1)

    def unit(self, unit: int, known: int) -> None:
        """Add one unit, or a whole character, that was known at source offset `known`."""
        half, self._half = self._half, None
        if half is not None and unit in _LOW:
            unit = 0x10000 + ((half - _HIGH.start) << 10) + (unit - _LOW.start)
        elif half is not None:
            self.growth.append(_LOST, known)
        if unit in _HIGH:
            self._half = unit
        else:
            self.growth.append(_LOST if unit in _LOW else chr(unit), known)

    def write(self, text: str, start: int) -> None:
        """Add text that may hold halves and stands at source offset `start`."""
        for found in _UNITS.finditer(text):
            if found.group()[0] < chr(_HIGH.start) or found.group()[0] >= chr(_LOW.stop):
                self.run(found.group(), start + found.start())
            else:
                self.unit(ord(found.group()), start + found.end())

    def end(self, known: int) -> None:
        """Give up waiting: a half that is kept back is lost."""
        if self._half is not None:
            self._half = None
            self.growth.append(_LOST, known)
