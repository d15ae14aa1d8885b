"""Case folding as ECMAScript does it without the `u` flag: through single-unit upper case."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from rules_engine.dialect.charset import LAST, CharSet, charset, overlaps

_ASCII_END = 0x80
_SURROGATES = range(0xD800, 0xE000)
# Letters whose capital came with Unicode 15 to 17, which not every supported Python knows.
_LATE_CAPITALS = MappingProxyType(
    {
        0x019B: 0xA7DC,
        0x0264: 0xA7CB,
        0x1C8A: 0x1C89,
        0xA7CD: 0xA7CC,
        0xA7CF: 0xA7CE,
        0xA7D3: 0xA7D2,
        0xA7D5: 0xA7D4,
        0xA7DB: 0xA7DA,
    }
)


def canonical(code: int) -> int:
    """ECMA-262 Canonicalize for a pattern without `u`: never from outside ASCII into it."""
    if code in _LATE_CAPITALS:
        return _LATE_CAPITALS[code]
    upper = chr(code).upper()
    if len(upper) != 1 or ord(upper) > LAST:
        return code
    return code if code >= _ASCII_END > ord(upper) else ord(upper)


@cache
def case_classes() -> tuple[CharSet, ...]:
    """Every set of two or more code units that are equal without regard to case."""
    groups: dict[int, list[int]] = {}
    for code in range(LAST + 1):
        if code not in _SURROGATES:
            groups.setdefault(canonical(code), []).append(code)
    return tuple(
        charset((code, code) for code in codes) for codes in groups.values() if len(codes) > 1
    )


def fold(members: CharSet) -> CharSet:
    """Add everything that equals a member without regard to case."""
    if len(members) == 1 and members[0][1] < _ASCII_END and members[0][0] == members[0][1]:
        return _fold_ascii(members[0][0])
    added = [span for kin in case_classes() if overlaps(kin, members) for span in kin]
    return charset((*members, *added))


def _fold_ascii(code: int) -> CharSet:
    # Nothing outside ASCII is canonicalised into it, so a letter has exactly two forms.
    char = chr(code)
    return charset({(ord(form), ord(form)) for form in (char.upper(), char.lower())})
