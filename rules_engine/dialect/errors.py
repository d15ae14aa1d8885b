"""What a pattern may not be: the one error of the dialect, and the limits on a pattern's size."""

from __future__ import annotations

MAX_SOURCE = 8_192
MAX_NESTING = 40
# The engine's own compiler takes four times as long for every further level.
MAX_LOOPS = 6
MAX_REPEAT = 65_535
# The engine writes out what must be repeated: about 300 bytes for every part of every turn.
MAX_UNROLLED = 100_000
MAX_TRANSLATED = 262_144


class DialectError(ValueError):
    """A pattern that cannot be used.

    `reason`: what is wrong and what to do, without the place. `offset`: the place, in
    characters of the source as it was given.
    """

    def __init__(self, reason: str, offset: int = 0) -> None:
        self.reason = reason
        self.offset = offset
        super().__init__(f"at character {offset + 1} of the pattern: {reason}")


class TooLargeError(DialectError):
    """A pattern that is over a limit, whatever syntax it is in."""
