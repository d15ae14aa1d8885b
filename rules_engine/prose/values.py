"""Blocks that hold values by name: a tool's parameters, or one text as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

import regex

from rules_engine.arguments import ArgumentDecoder, ArgumentPath, Change, Leaf
from rules_engine.families import ToolFamily
from rules_engine.growth import Growth
from rules_engine.tools import ArgumentsReader

_LINE_END = regex.compile(r"\r?\n")
_CANDIDATE = regex.compile(r"[\r\n<E]")  # what the end of a value can begin with
NAME = r"[\w.-]{1,64}"


@dataclass(frozen=True, slots=True)
class Marks:
    """How values are marked.

    end: the mark behind the value so named; it may take in one line end in front of it.
    over: the mark that ends the block, between values; None: the end of its value does.
    begin: the mark before a value, its name being the first group. value: the name of the value
    with which the block itself begins; at_once: what ends that one before it has any text (else
    one line end in front of a value is no part of it).
    """

    end: Callable[[str], regex.Pattern[str]]
    over: regex.Pattern[str] | None = None
    begin: regex.Pattern[str] | None = None
    value: str = ""
    at_once: regex.Pattern[str] | None = None


class _Kind(Enum):
    BEGAN = auto()
    GREW = auto()
    ENDED = auto()


class _Step(NamedTuple):
    """`text`: the name of a value that began, or what it grew by; `at`: offset in the block."""

    kind: _Kind
    text: str
    at: int


class _Scan:
    """Follows the marks of one block. `steps` gathers what was found."""

    def __init__(self, marks: Marks) -> None:
        self.steps: list[_Step] = []
        self._marks = marks
        self._end: regex.Pattern[str] | None = None  # of the value being read
        self._fresh = False  # the value being read has no text yet
        self._taken = 0  # characters of the block that were read
        self._offset = 0  # where in the block the text that is being read begins
        if marks.value:
            self._open(marks.value, 0)

    def take(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        """Read `text` from `at` on, up to what is undecided or the block's end."""
        begun, ended, going = at, False, True
        self._offset = self._taken - at
        while going and not ended and at < len(text):
            before, was = at, self._end
            step = self._outside if self._end is None else self._inside
            at, ended = step(text, at, final=final)
            going = at > before or was is not self._end
        self._taken += at - begun
        return at, ended

    def _open(self, name: str, at: int) -> None:
        self._end, self._fresh = self._marks.end(name), True
        self.steps.append(_Step(_Kind.BEGAN, name, at))

    def _outside(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        marks = [each for each in (self._marks.over, self._marks.begin) if each is not None]
        for place in range(at, len(text)):
            if text[place] not in "<`B":
                continue
            for mark in marks:
                found = mark.match(text, place, partial=not final)
                if found is None:
                    continue
                if found.partial:
                    return place, False
                if mark is self._marks.over:
                    return found.end(), True
                self._open(found.group(1), self._offset + found.end())
                return found.end(), False
        return len(text), False

    def _inside(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        if self._fresh:
            first = self._at_start(text, at, final=final)
            if first is not None:
                return first
        place, end = at, self._end
        while end is not None and (candidate := _CANDIDATE.search(text, place)) is not None:
            place = candidate.start()
            found = end.match(text, place, partial=not final)
            if found is not None:
                self._grow(text[at:place], at)
                return (place, False) if found.partial else self._close(found.end())
            place += 1
        self._grow(text[at:], at)
        return len(text), False

    def _at_start(self, text: str, at: int, *, final: bool) -> tuple[int, bool] | None:
        """Read what can stand only at a value's very beginning."""
        mark = self._marks.at_once or _LINE_END
        found = mark.match(text, at, partial=not final)
        if found is not None and found.partial:
            return at, False
        self._fresh = False
        if found is None:
            return None
        return (found.end(), False) if mark is _LINE_END else self._close(found.end())

    def _grow(self, text: str, at: int) -> None:
        if text:
            self.steps.append(_Step(_Kind.GREW, text, self._offset + at))

    def _close(self, at: int) -> tuple[int, bool]:
        self._end = None
        self.steps.append(_Step(_Kind.ENDED, "", self._offset + at))
        return at, self._marks.over is None


class ValuesBlock:
    """A block of values. `families`: what explains them; None: those of the request's agent.

    `own_path`: the block is an edit that does not say to which file.
    """

    def __init__(
        self,
        tool: str,
        marks: Marks,
        *,
        named: tuple[str, ...] = (),
        families: tuple[ToolFamily, ...] | None = None,
        own_path: bool = True,
    ) -> None:
        self.tool = tool
        self.named = named
        self._marks = marks
        self._families = families
        self._own_path = own_path
        self._scan = _Scan(marks)

    def take(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        """Take what is certain."""
        self._scan.steps.clear()
        return self._scan.take(text, at, final=final)

    def reader(self, families: tuple[ToolFamily, ...], paths: tuple[str, ...]) -> ValuesReader:
        """Make the reader of the values."""
        own = families if self._families is None else self._families
        return ValuesReader(own, self._marks, () if self._own_path else self.named or paths)


class ValuesReader(ArgumentsReader):
    """Reads a block's values as the arguments of a call. `paths`: its argument `path`, given."""

    def __init__(
        self, families: tuple[ToolFamily, ...], marks: Marks, paths: tuple[str, ...]
    ) -> None:
        super().__init__(families)
        self._marks = marks
        self._given = paths

    def _begin(self, families: tuple[ToolFamily, ...]) -> None:
        super()._begin(families)
        self._decoder = _ValuesDecoder(self._claims.unwraps, self._marks, self._given)


class _ValuesDecoder(ArgumentDecoder):
    """Tells the values as if they were the arguments' strings."""

    def __init__(
        self,
        unwrap: Callable[[ArgumentPath], bool],
        marks: Marks,
        given: Iterable[str],
    ) -> None:
        super().__init__(unwrap)
        self._scan = _Scan(marks)
        self._rest = ""
        self._end_at = 0
        self._given = tuple(given)

    def feed(self, text: str) -> list[Change]:
        """Read the next piece."""
        self._changes = []
        self._give()
        text = self._rest + text
        at, _ = self._scan.take(text, 0, final=False)
        self._rest = text[at:]
        self._apply()
        return self._changes

    def close(self) -> list[Change]:
        """Nothing more comes: the open value ends."""
        self._changes = []
        self._give()
        self._scan.take(self._rest, 0, final=True)
        self._apply()
        if self._leaf is not None:
            self._end_string(self._end_at)
        return self._changes

    def _give(self) -> None:
        """Tell what is known from elsewhere, as known from the beginning."""
        given, self._given = self._given, ()
        for path in given[-1:]:
            self._value("path")
            self._text.write(path, 0)
            self._end_string(0)

    def _apply(self) -> None:
        for kind, text, at in self._scan.steps:
            self._end_at = at + len(text)
            match kind:
                case _Kind.BEGAN:
                    self._value(text, at)
                case _Kind.GREW:
                    self._text.write(text, at)
                case _Kind.ENDED:
                    self._end_string(at)
        self._scan.steps.clear()
        self._tell(final=False)

    def _value(self, name: str, at: int = 0) -> None:
        leaf = Leaf(len(self.leaves), (name,), Growth())
        self.leaves.append(leaf)
        self._open_string(leaf, at)
