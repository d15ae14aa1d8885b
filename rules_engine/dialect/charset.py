"""Sets of UTF-16 code units as sorted, disjoint, inclusive ranges."""

from __future__ import annotations

from collections.abc import Iterable

CharSet = tuple[tuple[int, int], ...]

LAST = 0xFFFF


def charset(ranges: Iterable[tuple[int, int]]) -> CharSet:
    """Bring ranges into normal form: sorted, touching ones merged."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def chars(text: str) -> CharSet:
    """Make the set of the characters of `text`."""
    return charset((ord(char), ord(char)) for char in text)


def single(code: int) -> CharSet:
    """Make the set of one code unit."""
    return ((code, code),)


def complement(members: CharSet) -> CharSet:
    """Every code unit that is not in `members`."""
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in members:
        if start < low:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        gaps.append((start, LAST))
    return tuple(gaps)


def contains(members: CharSet, code: int) -> bool:
    """Whether `code` is in the set."""
    return any(low <= code <= high for low, high in members)


def overlaps(left: CharSet, right: CharSet) -> bool:
    """Whether the two sets share a code unit."""
    return any(a <= d and c <= b for a, b in left for c, d in right)


def size(members: CharSet) -> int:
    """How many code units are in the set."""
    return sum(high - low + 1 for low, high in members)


ALL: CharSet = ((0, LAST),)
DIGITS: CharSet = ((0x30, 0x39),)
WORD: CharSet = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
TERMINATORS = chars("\n\r\u2028\u2029")
DOT = complement(TERMINATORS)
SURROGATES: CharSet = ((0xD800, 0xDFFF),)
# ECMAScript WhiteSpace and LineTerminator: the Zs category of Unicode, U+FEFF and the controls.
SPACE = charset(
    (
        *chars("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"),
        (0x2000, 0x200A),
    )
)
