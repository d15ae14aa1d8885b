"""Decodes a call's JSON arguments as they stream, keeping where each character came from.

Never raises on any text: what is no JSON stops the decoding, and `fault` says why. Texts, paths
and offsets are the same for every cutting of the input.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from rules_engine.growth import Growth, Joiner

ArgumentPath = tuple[str | int, ...]

DEPTH_LIMIT = 64
WRAP_LIMIT = 2  # how often JSON inside a JSON string is unwrapped

_SPACE = re.compile(r"[ \t\n\r]+")
_PLAIN = re.compile(r'([^"\\\ud800-\udfff]+)|\\(["\\/bfnrt])')  # a run, or a whole simple escape
_WORD = re.compile(r"[-+.0-9A-Za-z]+")
_SCALAR = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null|NaN|-?Infinity")
_ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_HEX = frozenset("0123456789abcdefABCDEF")
_ESCAPE_LENGTH = len("\\u0000")


@dataclass(slots=True, eq=False)
class Leaf:
    """A string value. `number` counts the leaves of a call; `wrapped`: read as JSON itself."""

    number: int
    path: ArgumentPath
    growth: Growth
    wrapped: ArgumentDecoder | None = None


class ChangeKind(Enum):
    """What a change tells."""

    OPENED = auto()  # a string value began
    GREW = auto()  # it has more text
    CLOSED = auto()  # it ended
    ENDED = auto()  # a number, literal, list or object ended


class Change(NamedTuple):
    """One step of decoding. `at`: raw offset.

    `piece`: the new text of a string, beginning at `start` of it; the token of a number or
    literal.
    """

    kind: ChangeKind
    path: ArgumentPath
    at: int
    leaf: Leaf | None = None
    piece: str = ""
    start: int = 0


class _State(Enum):
    VALUE = auto()
    KEY = auto()
    COLON = auto()
    AFTER = auto()
    STRING = auto()
    SCALAR = auto()
    DONE = auto()
    FAULTY = auto()


@dataclass(slots=True)
class _Frame:
    is_list: bool
    place: str | int


def unwrap_nothing(_path: ArgumentPath) -> bool:
    """Read no string value as JSON (the arguments as a whole are, where they are a string)."""
    return False


class ArgumentDecoder:
    """Reads JSON text in pieces of any size.

    `unwrap` says which string values hold JSON where they begin like it; the whole arguments as
    one JSON string are always unwrapped. Lenient where clients are: control characters inside
    strings, trailing commas, and unknown escapes (kept as written). Of duplicate keys every
    value is told, in order. `leaves` are all string values, wrappers included.
    """

    def __init__(
        self,
        unwrap: Callable[[ArgumentPath], bool] = unwrap_nothing,
        *,
        source: Growth | None = None,
        base: ArgumentPath = (),
        leaves: list[Leaf] | None = None,
        wraps: int = 0,
    ) -> None:
        self.leaves: list[Leaf] = [] if leaves is None else leaves
        self.fault: str | None = None
        self._unwrap = unwrap
        self._source = source
        self._base = base
        self._wraps = wraps
        self._state = _State.VALUE
        self._stack: list[_Frame] = []
        self._read = 0
        self._changes: list[Change] = []
        self._leaf: Leaf | None = None  # None inside a string: it is a key
        self._text = Joiner(Growth())
        self._told = 0
        self._undecided = False
        self._escape = ""
        self._word: list[str] = []

    @property
    def complete(self) -> bool:
        """One whole JSON document was read, and nothing else."""
        return self._state is _State.DONE

    def feed(self, text: str) -> list[Change]:
        """Read the next piece."""
        self._changes = []
        position = 0
        while position < len(text) and self._state is not _State.FAULTY:
            position = self._step(text, position)
        self._read += len(text)
        if self._state is _State.STRING:
            self._tell(final=False)
        return self._changes

    def close(self) -> list[Change]:
        """Nothing more comes: closes the open string, with a lone half as U+FFFD."""
        self._changes = []
        if self._state is _State.SCALAR:
            self._end_scalar(0)
        if self._state is _State.STRING and self._leaf is not None:
            self._end_string(0)
        if self._state not in (_State.DONE, _State.FAULTY):
            self._fail("the arguments end before their JSON does")
        return self._changes

    def _step(self, text: str, position: int) -> int:
        match self._state:
            case _State.STRING:
                return self._in_string(text, position)
            case _State.SCALAR:
                return self._in_scalar(text, position)
            case _:
                space = _SPACE.match(text, position)
                if space is not None:
                    return space.end()
                self._structure(text[position], position + 1)
                return position + 1

    def _structure(self, character: str, end: int) -> None:
        match self._state:
            case _State.VALUE:
                self._open_value(character, end)
            case _State.KEY if character == '"':
                self._open_string(None)
            case _State.KEY | _State.AFTER if character in "}]":
                self._close_container(character, end)
            case _State.COLON if character == ":":
                self._state = _State.VALUE
            case _State.AFTER if character == ",":
                self._next_item()
            case _:
                self._fail(f"unexpected {character!r}")

    def _open_value(self, character: str, end: int) -> None:
        if character == '"':
            leaf = Leaf(len(self.leaves), self._path(), Growth(self._source))
            self.leaves.append(leaf)
            self._open_string(leaf, end)
        elif character in "{[":
            self._push(is_list=character == "[")
        elif character == "]" and self._stack and self._stack[-1].is_list:
            self._close_container(character, end)
        elif _WORD.match(character):
            self._word.append(character)
            self._state = _State.SCALAR
        else:
            self._fail(f"unexpected {character!r}")

    def _push(self, *, is_list: bool) -> None:
        if len(self._base) + len(self._stack) >= DEPTH_LIMIT:
            self._fail(f"nested deeper than {DEPTH_LIMIT}")
            return
        self._stack.append(_Frame(is_list=is_list, place=0 if is_list else ""))
        self._state = _State.VALUE if is_list else _State.KEY

    def _next_item(self) -> None:
        frame = self._stack[-1]
        if isinstance(frame.place, int):
            frame.place += 1
        self._state = _State.VALUE if frame.is_list else _State.KEY

    def _close_container(self, character: str, end: int) -> None:
        if self._stack[-1].is_list != (character == "]"):
            self._fail(f"unexpected {character!r}")
            return
        self._stack.pop()
        self._end_value(end)

    def _end_value(self, end: int, token: str = "") -> None:
        self._changes.append(Change(ChangeKind.ENDED, self._path(), self._offset(end), piece=token))
        self._after_value()

    def _after_value(self) -> None:
        self._state = _State.AFTER if self._stack else _State.DONE

    def _fail(self, why: str) -> None:
        self.fault = why
        self._state = _State.FAULTY

    def _path(self) -> ArgumentPath:
        return self._base + tuple(frame.place for frame in self._stack)

    def _offset(self, end: int) -> int:
        """Raw offset of position `end` of the piece being read."""
        offset = self._read + end
        return offset if self._source is None else self._source.arrival(offset)

    def _in_scalar(self, text: str, position: int) -> int:
        word = _WORD.match(text, position)
        if word is None:
            self._end_scalar(position)
            return position
        self._word.append(word.group())
        return word.end()

    def _end_scalar(self, end: int) -> None:
        token = "".join(self._word)
        self._word.clear()
        if _SCALAR.fullmatch(token):
            self._end_value(end, token)
        else:
            self._fail(f"{token[:20]!r} is no JSON value")

    def _open_string(self, leaf: Leaf | None, end: int = 0) -> None:
        self._state = _State.STRING
        self._leaf = leaf
        self._told = 0
        if leaf is None:
            self._text = Joiner(Growth())
            return
        self._text = Joiner(leaf.growth)
        self._undecided = self._wraps < WRAP_LIMIT and (not leaf.path or self._unwrap(leaf.path))
        if not self._undecided:
            self._changes.append(Change(ChangeKind.OPENED, leaf.path, self._offset(end), leaf))

    def _in_string(self, text: str, position: int) -> int:
        if self._escape:
            return self._in_escape(text, position)
        position = self._take_plain(text, position)
        if position == len(text):
            return position
        character = text[position]
        if character == '"':
            self._end_string(position + 1)
        elif character == "\\":
            self._escape = "\\"
        else:
            self._text.unit(ord(character), self._read + position + 1)
        return position + 1

    def _take_plain(self, text: str, position: int) -> int:
        """Take runs and simple escapes in one go; most of a string is nothing else."""
        while (found := _PLAIN.match(text, position)) is not None:
            run, escaped = found.groups()
            end = found.end()
            if run is None:
                self._text.run(_ESCAPES[escaped], self._read + end - 1)
            else:
                self._text.run(run, self._read + position)
            position = end
        return position

    def _in_escape(self, text: str, position: int) -> int:
        character = text[position]
        known = self._read + position + 1
        if self._escape == "\\" and character != "u":
            self._escape = ""
            self._put_escaped(character, known)
        elif self._escape == "\\" or character in _HEX:
            self._escape += character
            if len(self._escape) == _ESCAPE_LENGTH:
                unit, self._escape = int(self._escape.removeprefix("\\u"), 16), ""
                self._text.unit(unit, known)
        else:
            literal, self._escape = self._escape, ""
            self._put_literal(literal, known)
            return position
        return position + 1

    def _put_escaped(self, character: str, known: int) -> None:
        simple = _ESCAPES.get(character)
        if simple is not None:
            self._text.unit(ord(simple), known)
        else:
            self._text.unit(ord("\\"), known)
            self._text.unit(ord(character), known)

    def _put_literal(self, text: str, known: int) -> None:
        for character in text:
            self._text.unit(ord(character), known)

    def _end_string(self, end: int) -> None:
        self._escape = ""
        self._text.end(self._read + end)
        if self._leaf is None:
            self._stack[-1].place = self._text.growth.text
            self._state = _State.COLON
            return
        self._tell(final=True)
        leaf, self._leaf = self._leaf, None
        if leaf.wrapped is not None:
            self._changes += leaf.wrapped.close()
        else:
            self._changes.append(Change(ChangeKind.CLOSED, leaf.path, self._offset(end), leaf))
        self._after_value()

    def _tell(self, *, final: bool) -> None:
        """Report the open string's new text, or pass it to the decoder of the JSON inside it."""
        leaf = self._leaf
        if leaf is None:
            return
        piece = leaf.growth.since(self._told)
        if self._undecided:
            self._undecided = not piece.strip() and not final
            if self._undecided:
                self._told = leaf.growth.length
                return
            self._decide(leaf, piece)
            piece, self._told = leaf.growth.text, 0
        if piece and leaf.wrapped is not None:
            self._changes += leaf.wrapped.feed(piece)
        elif piece:
            at = leaf.growth.arrival(leaf.growth.length)
            self._changes.append(
                Change(ChangeKind.GREW, leaf.path, at, leaf, piece, start=self._told)
            )
        self._told = leaf.growth.length

    def _decide(self, leaf: Leaf, piece: str) -> None:
        if piece.lstrip()[:1] in ("{", "["):
            leaf.wrapped = ArgumentDecoder(
                self._unwrap,
                source=leaf.growth,
                base=leaf.path,
                leaves=self.leaves,
                wraps=self._wraps + 1,
            )
        else:
            at = leaf.growth.arrival(1)
            self._changes.append(Change(ChangeKind.OPENED, leaf.path, at, leaf))
