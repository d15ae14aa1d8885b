"""Escapes in words: `$'…'`, `echo -e`, and the formats of `printf`."""

from __future__ import annotations

import re
from collections.abc import Sequence

ESCAPE_LIMIT = 10  # characters of the longest escape, \UHHHHHHHH

_SIMPLE = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
_CODE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<byte>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})"
    r"|U(?P<long>[0-9A-Fa-f]{1,8}))"
)
_OPENS_CODE = re.compile(r"\\(?:[0-7]{1,2}|x[0-9A-Fa-f]?|u[0-9A-Fa-f]{0,3}|U[0-9A-Fa-f]{0,7})?")
_ESCAPE = re.compile(r"\\(?:0[0-7]{1,3}|[0-7]{1,3}|x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|[\s\S])")
_SPECIFIER = re.compile(r"%(?:%|[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[a-zA-Z])")
_EXTRA = 4096  # what a format may add to the length of its arguments by being used again


def ansi_escape(text: str, *, final: bool) -> tuple[str, int] | None:
    """Read the escape that `text` begins with: what it stands for, and its length.

    None: what follows it may still belong to it.
    """
    if not final and _OPENS_CODE.fullmatch(text):
        return None
    code = _CODE.match(text)
    if code is not None:
        return _character(code), code.end()
    simple = _SIMPLE.get(text[1:2])
    return ("\\", 1) if simple is None else (simple, 2)


def _character(code: re.Match[str]) -> str:
    digits = code["octal"]
    number = int(digits, 8) if digits else int(code["byte"] or code["short"] or code["long"], 16)
    return character_of(number)


def character_of(number: int) -> str:
    """Give the character with this number; what is none is the replacement character."""
    surrogate = 0xD800 <= number < 0xE000  # noqa: PLR2004 - the halves of UTF-16
    return "\ufffd" if surrogate or number > 0x10FFFF else chr(number)  # noqa: PLR2004 - the last one


def unescaped(text: str) -> str:
    """Undo the escapes of `echo -e` and of `printf`; unknown ones stay as they are."""
    return _ESCAPE.sub(_undo, text)


def _undo(found: re.Match[str]) -> str:
    body = found.group()[1:]
    if body in _SIMPLE:
        return _SIMPLE[body]
    if body[0] in "xu" and len(body) > 1:
        return character_of(int(body[1:], 16))
    return character_of(int(body, 8)) if body[0] in "01234567" else found.group()


def echoed(arguments: Sequence[str]) -> str:
    """Give what `echo` prints."""
    at, escapes, ends = 0, False, True
    while at < len(arguments) and re.fullmatch(r"-[neE]+", arguments[at]):
        letters = arguments[at][1:]
        ends = ends and "n" not in letters
        for letter in letters:
            escapes = letter == "e" or (escapes and letter != "E")
        at += 1
    text = " ".join(arguments[at:])
    return (unescaped(text) if escapes else text) + ("\n" if ends else "")


def printed(arguments: Sequence[str]) -> str:
    """Give what `printf` prints: its format, used as often as there are arguments for it.

    A format that would grow far beyond its arguments is left out from there on.
    """
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    if not arguments or arguments[0] == "-v":
        return ""
    pieces = _pieces(arguments[0])
    values = list(arguments[1:])
    room = len(arguments[0]) + sum(map(len, values)) + _EXTRA
    used, out = 0, list[str]()
    while True:
        before = used
        for literal, conversion in pieces:
            out.append(literal)
            room -= len(literal)
            if conversion:
                value = values[used] if used < len(values) else ""
                out.append(unescaped(value) if conversion == "b" else value)
                used += 1
        if used == before or used >= len(values):
            return "".join(out)
        if room < 0:
            return "".join(out) + "\n".join(values[used:])


def _pieces(shape: str) -> list[tuple[str, str]]:
    """Cut a format into literal text and the conversion behind each ("" at the end)."""
    pieces, literal, at = list[tuple[str, str]](), "", 0
    for found in _SPECIFIER.finditer(shape):
        literal += shape[at : found.start()]
        at = found.end()
        if found.group() == "%%":
            literal += "%"
            continue
        pieces.append((unescaped(literal), found.group()[-1]))
        literal = ""
    return [*pieces, (unescaped(literal + shape[at:]), "")]
