"""Bracketed classes, as Annex B reads them."""

from __future__ import annotations

from rules_engine.dialect.charset import CharSet, charset, complement, single, size
from rules_engine.dialect.escapes import read_class_escape
from rules_engine.dialect.folding import fold
from rules_engine.dialect.source import Cursor


def read_class(cursor: Cursor, *, ignore_case: bool, named: bool) -> CharSet:
    """Read the set of a class, the cursor being behind its opening bracket."""
    start = cursor.at - 1
    inverted = cursor.skip("^")
    members: list[tuple[int, int]] = []
    while not cursor.skip("]"):
        if not cursor.more:
            raise cursor.error(r"this class is not closed; add ] or write \[", start)
        members += _read_member(cursor, named=named)
    found = charset(members)
    if ignore_case:
        found = fold(found)
    return complement(found) if inverted else found


def _read_member(cursor: Cursor, *, named: bool) -> CharSet:
    start = cursor.at
    low = _read_atom(cursor, named=named)
    follower = cursor.units[cursor.at + 1 : cursor.at + 2]
    if cursor.char != "-" or follower in {"]", ""}:
        return low
    cursor.at += 1
    high = _read_atom(cursor, named=named)
    if size(low) != 1 or size(high) != 1:
        return (*low, *single(ord("-")), *high)
    if low[0][0] > high[0][0]:
        raise cursor.error("this range runs backwards; write the smaller end first", start)
    return ((low[0][0], high[0][0]),)


def _read_atom(cursor: Cursor, *, named: bool) -> CharSet:
    char = cursor.take()
    return read_class_escape(cursor, named=named) if char == "\\" else single(ord(char))
