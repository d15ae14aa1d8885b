"""UTF-16 code units in Python strings: what a character is to a pattern without the `u` flag.

In unit form every character beyond U+FFFF stands as its two surrogate halves, so one element of
the string is one code unit and the engine counts as JavaScript does.
"""

from __future__ import annotations

import re

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_BASE = 0x10000
_LEAD = 0xD800
_TRAIL = 0xDC00


def has_astral(text: str, start: int = 0) -> bool:
    """Whether `text` from `start` on holds a character that is two code units."""
    return not text.isascii() and _ASTRAL.search(text, start) is not None


def split_units(text: str) -> str:
    """Bring a text into unit form. A prefix of a text gives a prefix of its unit form."""
    return text if text.isascii() else _ASTRAL.sub(_halves, text)


def join_units(text: str) -> str:
    """Join every pair of surrogate halves into the character that it spells."""
    return text if text.isascii() else _PAIR.sub(_whole, text)


def pair(lead: int, trail: int) -> int:
    """Give the code point that two surrogate halves spell."""
    return _BASE + ((lead - _LEAD) << 10) + (trail - _TRAIL)


def _halves(found: re.Match[str]) -> str:
    rest = ord(found[0]) - _BASE
    return chr(_LEAD + (rest >> 10)) + chr(_TRAIL + (rest & 0x3FF))


def _whole(found: re.Match[str]) -> str:
    return chr(pair(ord(found[0][0]), ord(found[0][1])))
