"""A cursor over a pattern's source in code units."""

from __future__ import annotations

from dataclasses import dataclass, field

from rules_engine.dialect.errors import DialectError, TooLargeError
from rules_engine.dialect.units import split_units


@dataclass(slots=True)
class Cursor:
    """A place in the source. `base`: characters that stood before the source, for errors."""

    source: str
    base: int = 0
    units: str = field(init=False)
    at: int = 0

    def __post_init__(self) -> None:
        self.units = split_units(self.source)

    @property
    def more(self) -> bool:
        """Whether anything is left."""
        return self.at < len(self.units)

    @property
    def char(self) -> str:
        """The next unit, or the empty string at the end."""
        return self.units[self.at : self.at + 1]

    def take(self) -> str:
        """Take the next unit, which must be there."""
        self.at += 1
        return self.units[self.at - 1]

    def sees(self, text: str) -> bool:
        """Whether `text` comes next."""
        return self.units.startswith(text, self.at)

    def skip(self, text: str) -> bool:
        """Whether `text` came next; if so it is taken."""
        if not self.sees(text):
            return False
        self.at += len(text)
        return True

    def take_while(self, allowed: str, most: int) -> str:
        """As many of the `allowed` units as come next, `most` at the most."""
        start = self.at
        while self.more and self.at - start < most and self.char in allowed:
            self.at += 1
        return self.units[start : self.at]

    def error(self, reason: str, at: int | None = None) -> DialectError:
        """Make an error at the unit `at`, by default the next one, told in source characters."""
        return DialectError(reason, self._offset(self.at if at is None else at))

    def limit(self, reason: str, at: int) -> TooLargeError:
        """Make an error about a limit that is exceeded at the unit `at`."""
        return TooLargeError(reason, self._offset(at))

    def _offset(self, place: int) -> int:
        units = 0
        for offset, char in enumerate(self.source):
            if units >= place:
                return self.base + offset
            units += 1 + (char > "\uffff")
        return self.base + len(self.source)
