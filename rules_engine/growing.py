"""A text that grows piece by piece and is joined when it is asked for.

Appending to a string copies it wherever memory behind it is taken; a long answer would be copied
once a delta. Most deltas are never looked at again, so their pieces can wait.
"""

from __future__ import annotations

_MOST_PIECES = 256


class GrowingText:
    """`length`: its characters so far."""

    __slots__ = ("_joined", "_late", "length")

    def __init__(self, text: str = "") -> None:
        self.length = len(text)
        self._joined = text
        self._late: list[str] = []

    def append(self, piece: str) -> None:
        """Add to its end."""
        self.length += len(piece)
        self._late.append(piece)
        if len(self._late) > _MOST_PIECES:
            self._join()

    @property
    def whole(self) -> str:
        """All of it."""
        if self._late:
            self._join()
        return self._joined

    def end(self, count: int) -> str:
        """Give its last characters, `count` of them if there are so many."""
        late = ""
        for piece in reversed(self._late):
            late = piece + late
            if len(late) >= count:
                return late[len(late) - count :]
        return self.whole[max(0, self.length - count) :]

    def _join(self) -> None:
        joined = self._joined
        self._joined = ""  # the only reference, so that the text may grow where it stands
        joined += "".join(self._late)
        self._joined = joined
        self._late.clear()


class OnText:
    """What follows a text that grows."""

    _text: GrowingText

    @property
    def text(self) -> str:
        """All of it so far."""
        return self._text.whole

    @property
    def length(self) -> int:
        """Characters of it so far."""
        return self._text.length
