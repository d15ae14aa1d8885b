"""`sed -i`: which files it edits, and the text that its commands put there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine.shell.escapes import character_of

_SUFFIX = re.compile(r"\.\S+|~|\*\S+")  # no script begins so
_BLANK = re.compile(r"[ \t]*")
_SPACE = re.compile(r"[ \t\r\n;{}]*")
_LINE = re.compile(r"[^\n]*")
_REST_OF_LINE = re.compile(r"[ \t]*\n")
_LABEL = re.compile(r"[ \t]*[^\n;}]*")
_NUMBER = re.compile(r"[ \t]*[0-9]*")
_FLAGS = re.compile(r"[gpiIMme0-9]*")
_ADDRESS_NUMBER = re.compile(r"[0-9]+(?:~[0-9]+)?|\$|[+~][0-9]+")
_CODE = re.compile(r"x([0-9A-Fa-f]{1,2})|o([0-7]{1,3})|d([0-9]{1,3})")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "f": "\f", "v": "\v"}
_CASES = "ULulE"


@dataclass(frozen=True, slots=True)
class Edit:
    """Texts that an edit in place adds to each of the files, each an edit of its own."""

    texts: tuple[str, ...]
    files: tuple[str, ...]


def edit_of(arguments: Sequence[str]) -> Edit | None:
    """Read the arguments of `sed`; None where it edits no file in place."""
    options = _Options(arguments)
    if not options.in_place:
        return None
    operands = options.operands
    scripts = options.scripts
    if not scripts and not options.elsewhere:
        scripts, operands = operands[:1], operands[1:]
    return Edit(added("\n".join(scripts)), tuple(operands))


class _Options:
    """The arguments, in the spelling of GNU (`-i.bak`) or of BSD (`-i '' `, `-i .bak`)."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.in_place = False
        self.elsewhere = False  # a script stands in a file
        self.scripts: list[str] = []
        self.operands: list[str] = []
        self._arguments = arguments
        self._at = 0
        while self._at < len(arguments):
            word = arguments[self._at]
            self._at += 1
            if word == "--":
                self.operands += arguments[self._at :]
                return
            if word.startswith("--"):
                self._long(word)
            elif word.startswith("-") and word != "-":
                self._short(word)
            else:
                self.operands.append(word)

    def _long(self, word: str) -> None:
        name, has_value, value = word.partition("=")
        if name == "--in-place":
            self.in_place = True
        elif name in ("--expression", "--file", "--line-length"):
            value = value if has_value else self._next()
            self._script(name[2], value)

    def _short(self, word: str) -> None:
        for place, letter in enumerate(word[1:], 2):
            rest = word[place:]
            if letter in "iI":
                self.in_place = True
                if not rest:
                    self._skip_suffix()
                return
            if letter in "efl":
                self._script(letter, rest or self._next())
                return

    def _skip_suffix(self) -> None:
        there = self._arguments[self._at : self._at + 1]
        if there and (not there[0] or _SUFFIX.fullmatch(there[0])):
            self._at += 1

    def _script(self, kind: str, value: str) -> None:
        if kind == "e":
            self.scripts.append(value)
        elif kind == "f":
            self.elsewhere = True

    def _next(self) -> str:
        self._at += 1
        return self._arguments[self._at - 1] if self._at <= len(self._arguments) else ""


def added(script: str) -> tuple[str, ...]:
    """Give the text that each command of a script adds: of `s` its new side, of `a`, `i`, `c` all.

    What the script matches is never among it. What cannot be read ends the reading.
    """
    return tuple(text for text in _Script(script).read() if text)


class _Script:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._added: list[str] = []

    def read(self) -> list[str]:
        while self._command():
            pass
        return self._added

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found.group()

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _command(self) -> bool:
        """Read one command; say whether another may follow."""
        self._skip(_SPACE)
        if not self._addresses():
            return False
        name = self._peek()
        self._at += 1
        match name:
            case "":
                return False
            case "s":
                return self._substitute()
            case "y":
                return self._delimited() is not None
            case "a" | "i" | "c":
                self._added.append(self._lines())
            case "b" | "t" | "T" | ":":
                self._skip(_LABEL)
            case "r" | "R" | "w" | "W" | "e" | "#" | "v" | "F":
                self._skip(_LINE)
            case "q" | "Q" | "l" | "L":
                self._skip(_NUMBER)
            case _:
                return name in "{}=dDgGhHnNpPxz"
        return True

    def _addresses(self) -> bool:
        while True:
            if not self._address():
                return False
            self._skip(_BLANK)
            if self._peek() != ",":
                break
            self._at += 1
            self._skip(_BLANK)
        while self._peek() == "!":
            self._at += 1
            self._skip(_BLANK)
        return True

    def _address(self) -> bool:
        """Read an address, if there is one; False where its end is missing."""
        if self._skip(_ADDRESS_NUMBER):
            return True
        opens = self._peek()
        if opens not in ("/", "\\"):
            return True
        self._at += 1 if opens == "/" else 2
        delimiter = self._text[self._at - 1 : self._at]
        if not delimiter or self._until(delimiter) is None:
            return False
        while self._peek() in ("I", "M"):
            self._at += 1
        return True

    def _until(self, delimiter: str) -> str | None:
        """Take what stands before the next delimiter that is not escaped, and that."""
        end = self._at
        while end < len(self._text) and self._text[end] != delimiter:
            end += 2 if self._text[end] == "\\" else 1
        if end >= len(self._text):
            return None
        taken, self._at = self._text[self._at : end], end + 1
        return taken

    def _delimited(self) -> tuple[str, str] | None:
        """Take `/old/new/`: the delimiter and the new side."""
        delimiter = self._peek()
        self._at += 1
        if delimiter in ("", "\n", "\\") or self._until(delimiter) is None:
            return None
        new = self._until(delimiter)
        return None if new is None else (delimiter, new)

    def _substitute(self) -> bool:
        sides = self._delimited()
        if sides is None:
            return False
        self._added.append(_replacement(sides[1], sides[0]))
        self._skip(_FLAGS)
        if self._peek() == "w":
            self._skip(_LINE)
        return True

    def _lines(self) -> str:
        """Take the text of `a`, `i` or `c`: to a line end that is not escaped."""
        self._skip(_BLANK)
        if self._peek() == "\\":
            self._at += 1
            self._skip(_REST_OF_LINE)
        out, start = list[str](), self._at
        while self._at < len(self._text) and self._text[self._at] != "\n":
            if self._text[self._at] == "\\":
                out.append(self._text[start : self._at])
                start = self._at + 1
                self._at += 1
            self._at += 1
        out.append(self._text[start : self._at])
        return "".join(out)


def _replacement(text: str, delimiter: str) -> str:
    """Undo the escapes of a new side; what refers to the match stays as it is written."""
    out, at = list[str](), 0
    while (escape := text.find("\\", at)) >= 0:
        out.append(text[at:escape])
        character = text[escape + 1 : escape + 2]
        at = escape + 2
        code = _CODE.match(text, escape + 1)
        if character != delimiter and code is not None:
            out.append(character_of(_number(code)))
            at = code.end()
        elif character.isdigit() and character != delimiter:
            out.append(f"\\{character}")
        elif character == delimiter or character not in _CASES:
            out.append(character if character == delimiter else _LETTERS.get(character, character))
    return "".join((*out, text[at:]))


def _number(code: re.Match[str]) -> int:
    hexadecimal, octal, decimal = code.groups()
    if hexadecimal:
        return int(hexadecimal, 16)
    return int(octal, 8) if octal else int(decimal)
