"""Finds what a client saw of abandoned attempts again, at the front of its message; pure."""

from __future__ import annotations

import re

from proxy.conversation import blanked, normalised

_WORD = re.compile(r"\S+")


def front(text: str, abandoned: str) -> int | None:
    """Count the characters of `text` that hold `abandoned` and nothing else; None: it is not there.

    Both are compared without white space and think blocks, for clients that trim or unfold;
    a client that changed nothing gets the exact length.
    """
    if text.startswith(abandoned):
        return len(abandoned)
    wanted = normalised(abandoned)
    shown = blanked(text)
    end = _end_of(shown, wanted)
    if end is None:
        return None
    blanks = len(abandoned) - len(abandoned.rstrip())
    rest = text[end : end + blanks]
    return end + len(rest) - len(rest.lstrip())


def _end_of(shown: str, wanted: str) -> int | None:
    """Find where `wanted` ends in `shown`, white space aside, if `shown` begins with it."""
    if not wanted:
        return 0
    read = 0
    for word in _WORD.finditer(shown):
        part = wanted[read : read + len(word[0])]
        if not word[0].startswith(part):
            return None
        read += len(part)
        if read == len(wanted):
            return word.start() + len(part)
    return None
