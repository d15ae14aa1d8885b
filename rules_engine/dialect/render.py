"""How single units and sets of units are spelt for the engine."""

from __future__ import annotations

from rules_engine.dialect.charset import (
    ALL,
    DIGITS,
    SURROGATES,
    WORD,
    CharSet,
    complement,
    overlaps,
)

_CASE_BIT = 0x20
_ASCII_END = 0x80
_BYTE_END = 0x100


def render_unit(code: int) -> str:
    """One code unit, escaped where the engine could read it otherwise."""
    char = chr(code)
    if code < _ASCII_END and (char.isalnum() or char == "_"):
        return char
    if "!" <= char <= "~":
        return "\\" + char
    return f"\\x{code:02x}" if code < _BYTE_END else f"\\u{code:04x}"


def render_set(members: CharSet, *, ascii_only: bool) -> str | None:
    r"""One unit out of the set; None if there is none. `ascii_only`: \w and \d are ASCII's."""
    if not members:
        return None
    if members == ALL:
        return "(?s:.)"
    if ascii_only and members in {WORD, DIGITS}:
        return r"\w" if members == WORD else r"\d"
    if len(members) == 1 and members[0][0] == members[0][1]:
        return render_unit(members[0][0])
    others = complement(members)
    # A negated class would also match whole astral characters in text that is not in unit form,
    # and the engine loses matches of two alternatives that each negate one range.
    if overlaps(members, SURROGATES) and 1 < len(others) < len(members):
        return f"[^{_ranges(others)}]"
    return f"[{_ranges(members)}]"


def folded_letter(members: CharSet) -> str | None:
    """Give the small ASCII letter of a set that holds exactly its two forms."""
    if len(members) != 2:  # noqa: PLR2004 - a capital and a small letter
        return None
    (upper, upper_end), (lower, lower_end) = members
    if upper != upper_end or lower != lower_end or lower != upper | _CASE_BIT:
        return None
    char = chr(lower)
    return char if "a" <= char <= "z" and upper != lower else None


def only_unit(members: CharSet) -> int | None:
    """Give the unit of a set that holds exactly one."""
    return members[0][0] if len(members) == 1 and members[0][0] == members[0][1] else None


def _ranges(members: CharSet) -> str:
    return "".join(
        render_unit(low) if low == high else f"{render_unit(low)}-{render_unit(high)}"
        for low, high in members
    )
