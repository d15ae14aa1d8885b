"""Cuts growing text into prose and blocks; the same parts however the text came in."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules_engine.prose.block import Block, Opening, Shown

LONGEST_LINE = 300  # a line that opens a block, or names its file, is no longer
_LINES = 3  # how many lines before a block may name its file


@dataclass(frozen=True, slots=True)
class Plain:
    """Text that is prose."""

    text: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A block begins; `mark` is what opened it."""

    block: Block
    mark: str


@dataclass(frozen=True, slots=True)
class Inside:
    """Text of the open block, the mark that ends it included."""

    text: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The open block ended."""


Part = Plain | Opened | Inside | Closed


class Splitter:
    """Follows one text. The texts of all parts, joined, are that text."""

    def __init__(self, openings: Sequence[Opening]) -> None:
        self._by_line = tuple(each for each in openings if not each.inline)
        self._by_mark = tuple(each for each in openings if each.inline)
        self._undecided = ""
        self._block: Block | None = None
        self._shown: Shown | None = None
        self._before: deque[str] = deque(maxlen=_LINES)
        self._line = ""  # the beginning of the line that is being read
        self._fresh = True  # nothing of it is decided yet

    def feed(self, piece: str) -> Iterator[Part]:
        """Read on. The parts must be taken to the end."""
        return self._parts(piece, final=False)

    def close(self) -> Iterator[Part]:
        """Nothing more comes."""
        yield from self._parts("", final=True)
        if self._block is not None:
            self._block = None
            yield Closed()

    def _parts(self, piece: str, *, final: bool) -> Iterator[Part]:
        text, at = self._undecided + piece, 0
        while at < len(text):
            begun = at
            if self._block is None:
                at, opened = self._plain(text, at, final=final)
                if at > begun:
                    yield Plain(text[begun:at])
                if opened is None:
                    break
                self._block = opened[0]
                yield Opened(opened[0], text[at : opened[1]])
                at = opened[1]
            else:
                at, ended = self._block.take(text, at, final=final)
                if at > begun:
                    yield Inside(text[begun:at])
                if not ended:
                    break
                self._leave()
                yield Closed()
        self._undecided = text[at:]

    def _leave(self) -> None:
        """The rest of the line on which a block ended is prose, and names nothing."""
        self._block = None
        self._before.clear()
        self._line, self._fresh = "", False

    def _plain(self, text: str, at: int, *, final: bool) -> tuple[int, tuple[Block, int] | None]:
        """Give how far the prose goes, and the block that opens there with the end of its mark."""
        while at < len(text):
            newline = text.find("\n", at)
            end = len(text) if newline < 0 else newline
            if self._fresh:
                undecided, block = self._line_opens(text, at, end, whole=newline >= 0 or final)
                if block is not None:
                    return at, (block, min(end + 1, len(text)))
                if undecided:
                    return at, None
                self._fresh = False
            stop, opened = self._mark_opens(text, at, end, final=final)
            self._line += text[at : min(stop, at + LONGEST_LINE)]
            if opened is not None or stop < end:
                return stop, opened
            at = end
            if newline >= 0:
                at = newline + 1
                self._before.append(self._line[:LONGEST_LINE])
                self._line, self._fresh = "", True
        return at, None

    def _line_opens(
        self, text: str, at: int, end: int, *, whole: bool
    ) -> tuple[bool, Block | None]:
        """Say whether the line may still open a block, and the block if it does."""
        if end - at > LONGEST_LINE:
            return False, None
        if self._shown is not None:
            last = self._shown.end.fullmatch(text, at, end, partial=not whole)
            if last is not None and whole:
                self._shown = None
            return last is not None and not whole, None
        undecided = False
        for opening in self._by_line:
            found = opening.pattern.fullmatch(text, at, end, partial=not whole)
            if found is None:
                continue
            if not whole:
                undecided = True
                continue
            opened = opening.make(found, tuple(self._before))
            if isinstance(opened, Shown):
                self._shown = opened
                return False, None
            return False, opened
        return undecided, None

    def _mark_opens(
        self, text: str, at: int, end: int, *, final: bool
    ) -> tuple[int, tuple[Block, int] | None]:
        """Give where the first mark stands (`end`: nowhere), and the block that it opens."""
        place = text.find("<", at, end) if self._by_mark and self._shown is None else -1
        while place >= 0:
            for opening in self._by_mark:
                found = opening.pattern.match(text, place, partial=not final)
                if found is None:
                    continue
                if found.partial:
                    return place, None
                block = opening.make(found, tuple(self._before))
                if not isinstance(block, Shown):
                    return place, (block, found.end())
            place = text.find("<", place + 1, end)
        return end, None
