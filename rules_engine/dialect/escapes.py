"""Escapes of ECMAScript without the `u` flag, with the legacy forms of Annex B."""

from __future__ import annotations

from rules_engine.dialect.charset import DIGITS, SPACE, WORD, CharSet, complement, single
from rules_engine.dialect.source import Cursor

DECIMAL = "0123456789"
OCTAL = "01234567"
HEXADECIMAL = "0123456789abcdefABCDEF"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

_BACKSLASH = single(0x5C)
_CONTROL_MASK = 0x1F
_OCTAL_THREE = "0123"


def read_class_escape(cursor: Cursor, *, named: bool) -> CharSet:
    r"""Read what an escape in brackets stands for, the cursor being behind its backslash."""
    if cursor.skip("b"):
        return single(0x08)
    if named and cursor.sees("k"):
        raise cursor.error(
            r"\k cannot stand in a class beside named groups; write k", cursor.at - 1
        )
    return _read_control(cursor, LETTERS + DECIMAL + "_") or read_character_escape(cursor)


def read_atom_escape(cursor: Cursor) -> CharSet:
    r"""Read what an escape outside brackets stands for, references and \b, \k excepted."""
    return _read_control(cursor, LETTERS) or read_character_escape(cursor)


def _read_control(cursor: Cursor, allowed: str) -> CharSet | None:
    if not cursor.sees("c"):
        return None
    follower = cursor.units[cursor.at + 1 : cursor.at + 2]
    if not follower or follower not in allowed:
        return _BACKSLASH
    cursor.at += 2
    return single(ord(follower) & _CONTROL_MASK)


def read_character_escape(cursor: Cursor) -> CharSet:  # noqa: PLR0911 - one return a kind
    """Read a class escape, a code escape, or any other character standing for itself."""
    if not cursor.more:
        raise cursor.error(r"the pattern ends in a lone backslash; write \\", cursor.at - 1)
    if cursor.char in OCTAL:
        return single(_read_octal(cursor))
    char = cursor.take()
    match char:
        case "d" | "D":
            return DIGITS if char == "d" else complement(DIGITS)
        case "s" | "S":
            return SPACE if char == "s" else complement(SPACE)
        case "w" | "W":
            return WORD if char == "w" else complement(WORD)
        case "f" | "n" | "r" | "t" | "v":
            return single({"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}[char])
        case "x":
            return single(_read_hexadecimal(cursor, 2, char))
        case "u":
            return single(_read_hexadecimal(cursor, 4, char))
        case _:
            return single(ord(char))


def _read_octal(cursor: Cursor) -> int:
    return int(cursor.take_while(OCTAL, 3 if cursor.char in _OCTAL_THREE else 2), 8)


def _read_hexadecimal(cursor: Cursor, length: int, char: str) -> int:
    start = cursor.at
    digits = cursor.take_while(HEXADECIMAL, length)
    if len(digits) == length:
        return int(digits, 16)
    cursor.at = start
    return ord(char)
