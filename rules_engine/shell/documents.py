"""A here-document: where its body ends, and the text of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rules_engine.growth import Growth

_PLAIN = re.compile(r"[^\n]+")
_EXPANDED = re.compile(r"[^\n\\]+")


@dataclass(slots=True, eq=False)
class Document:
    """One here-document. Its text is its lines, joined by newlines, without a last line end.

    tabbed: tabs in front of its lines are dropped. expands: its delimiter is not quoted, so that
    a backslash in it may be an escape. read: its body is whole.
    """

    delimiter: str
    growth: Growth
    tabbed: bool
    expands: bool
    read: bool = False
    lines: int = 0
    _matched: int = 0  # characters of the delimiter that begin the current line
    _returned: bool = False  # and a carriage return behind it

    @property
    def plain(self) -> re.Pattern[str]:
        """A run of characters inside a line that stand for themselves."""
        return _EXPANDED if self.expands else _PLAIN

    @property
    def unfinished(self) -> bool:
        """Whether a line has begun like the end of the body, and is not the end yet."""
        return 0 < self._matched < len(self.delimiter)

    def could_end(self, character: str) -> bool | None:
        """Take the next character at the beginning of a line.

        True: the line may still be the end; None: it is; False: it is text, of which this
        character is the first that `open_line` does not give.
        """
        if self._matched == len(self.delimiter):
            if character == "\n":
                return None
            if character == "\r" and not self._returned:
                self._returned = True
                return True
            return False
        if character == self.delimiter[self._matched]:
            self._matched += 1
            return True
        return self.tabbed and not self._matched and character == "\t"

    def open_line(self, known: int) -> bool:
        """Begin a line of text, known to be one at `known`; say whether it is the first."""
        if self.lines:
            self.growth.append("\n", known)
        self.lines += 1
        self.growth.append_late(self.delimiter[: self._matched], known)
        if self._returned:
            self.growth.append("\r", known)
        self._matched, self._returned = 0, False
        return self.lines == 1
