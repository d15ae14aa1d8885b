"""Reads patch text as it streams: the added lines of each hunk, and the file that it names.

One reader a format, all fed line piece by line piece: what kind of line it is, is settled by its
first few characters, and added text grows from there on. Removed and context lines are never
given out. Joined by newlines are the added lines of one hunk; hunks are sections of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from rules_engine.growth import Growth

ADDED, WHOLE, SKIPPED = "added", "whole", "skipped"
_MARKER_SIGNS = range(5, 10)


@dataclass(slots=True, eq=False)
class PatchSection:
    """The lines that one hunk adds. `paths` empty: the patch does not name the file.

    `named_at`, `opened_at`: offsets in `source`, the text that was read, at which the file and
    the first added line were known. `created`: the patch makes the file. `names`: what a scope
    may call the tool as far as this section goes, if the text says so. `finished`: it grows no
    more.
    """

    paths: tuple[str, ...]
    named_at: int
    opened_at: int
    growth: Growth
    source: Growth
    created: bool = False
    names: tuple[str, ...] | None = None
    lines: int = 0
    finished: bool = False


class SectionReader(Protocol):
    """What reads a text that says which files it adds source to."""

    @property
    def sections(self) -> list[PatchSection]:
        """The sections so far, in the order in which they became known."""

    @property
    def recognised(self) -> bool:
        """Whether the text is of the kind that is read."""

    def feed(self, piece: str, start: int, /) -> None:
        """Read the next piece; `start` is its offset in the text."""

    def close(self) -> None:
        """Nothing more comes."""


class PatchReader:
    """What all formats share: lines, and the section that is growing.

    A format says by `kind` what a line is, given its beginning (None: more is needed), by
    `kind_of_line` what a line is that ended undecided, and reads whole lines in `line`.
    """

    mark = 0  # characters in front of an added line's text

    def __init__(self, source: Growth, *, recognised: bool = False) -> None:
        self.sections: list[PatchSection] = []
        self.recognised = recognised
        self.created = False
        self.paths: tuple[str, ...] = ()
        self.named_at = 0
        self._source = source
        self._section: PatchSection | None = None
        self._kind: str | None = None
        self._head = ""
        self._whole: list[str] = []

    def feed(self, piece: str, start: int) -> None:
        """Read the next piece of the patch text; `start` is its offset in that text."""
        position = 0
        while position < len(piece):
            newline = piece.find("\n", position)
            end = len(piece) if newline < 0 else newline
            if end > position:
                self._more(piece[position:end], start + position)
            if newline >= 0:
                self._end_line(start + newline + 1)
            position = end + 1

    def close(self) -> None:
        """Nothing more comes: the last line ends without a newline."""
        if self._head or self._whole:
            self._end_line(self._source.length)

    def kind(self, head: str) -> str | None:
        """Say what kind of line begins with `head`."""
        raise NotImplementedError

    def kind_of_line(self, _line: str) -> str:
        """Say what kind of line this is, its end having come before its kind was settled."""
        return SKIPPED

    def line(self, text: str, end: int) -> None:
        """Read a whole line without its line end; `end` is the offset behind it."""
        raise NotImplementedError

    def name(self, paths: tuple[str, ...], at: int, *, created: bool = False) -> None:
        """Take the name of a file: what follows is a new section of it."""
        self.created = created
        self.recognised = True
        self.paths = paths
        self.named_at = at
        self.part()

    def part(self) -> None:
        """Begin a new hunk of the same file."""
        if self._section is not None:
            self._section.finished = True
        self._section = None

    def _more(self, text: str, start: int) -> None:
        if self._kind is None:
            taken = self._settle(text, start)
            text, start = text[taken:], start + taken
        if text and self._kind == ADDED:
            self._add(text, start)
        elif text and self._kind == WHOLE:
            self._whole.append(text)

    def _settle(self, text: str, start: int) -> int:
        """Take characters one by one until the kind is settled; give how many were taken."""
        for at, character in enumerate(text, 1):
            self._head += character
            kind = self.kind(self._head)
            if kind is not None:
                self._begin(kind, start + at)
                return at
        return len(text)

    def _begin(self, kind: str, known: int) -> None:
        self._kind = kind
        head, self._head = self._head, ""
        if kind == WHOLE:
            self._whole.append(head)
        elif kind == ADDED:
            self._open(known).growth.append_late(head[self.mark :], known)

    def _open(self, known: int) -> PatchSection:
        """Begin an added line: in the section that is growing, or in a new one."""
        section = self._section
        if section is None:
            section = PatchSection(
                self.paths,
                self.named_at,
                known,
                Growth(self._source),
                self._source,
                created=self.created,
            )
            self._section = section
            self.sections.append(section)
        elif section.lines:
            section.growth.append("\n", known)
        section.lines += 1
        return section

    def _add(self, text: str, start: int) -> None:
        if self._section is not None:
            self._section.growth.append(text, start + 1)

    def _end_line(self, end: int) -> None:
        if self._kind is None:
            self._begin(self.kind_of_line(self._head), end)
        kind, self._kind = self._kind, None
        if kind == WHOLE:
            whole = "".join(self._whole)
            self._whole.clear()
            self.line(whole.removesuffix("\r"), end)


class EnvelopeReader(PatchReader):
    """`*** Begin Patch` with Add, Update and Delete File, Move to, `@@` and marked lines.

    The opening line is not asked for, but inside a shell command (`in_shell`).
    """

    mark = 1

    def __init__(self, source: Growth, *, in_shell: bool = False) -> None:
        super().__init__(source)
        self._in_shell = in_shell
        self.begun = not in_shell

    def kind(self, head: str) -> str | None:
        """Only a file's lines that begin with `+` are added."""
        if not self.begun:
            return WHOLE
        match head[0]:
            case "+" if self.paths:
                return ADDED
            case "*" | "@":
                return WHOLE
            case _:
                return SKIPPED

    def line(self, text: str, end: int) -> None:
        """Read a header."""
        word, _, rest = text.removeprefix("*** ").partition(":")
        path = rest.strip()
        if text.startswith("@@"):
            self.part()
        elif text.rstrip().endswith("*** Begin Patch"):
            self.begun = True
        elif not self.begun or not text.startswith("*** "):
            return
        elif word in ("Add File", "Update File", "Delete File"):
            self.name((path,) if path else (), end, created=word == "Add File")
        elif word == "Move to" and self.paths and path:
            self.name((*self.paths, path), end)
        elif word.rstrip() == "End Patch":
            self.name((), end)
            self.begun = not self._in_shell


class UnifiedReader(PatchReader):
    """`---`, `+++`, `@@` and marked lines. Line counts are not trusted: models miscount.

    `headless`: the file is named outside the text, so lines count without a header.
    """

    mark = 1
    _NEW, _OLD = "+++ ", "--- "

    def __init__(self, source: Growth, *, headless: bool = False) -> None:
        super().__init__(source, recognised=headless)
        self._headless = headless
        self._old: str | None = None  # the path of a `---` line that stood just before

    def kind(self, head: str) -> str | None:
        """`+++ ` is a header where `--- ` stood just before, else an added line."""
        if self._old is not None and self._NEW.startswith(head):
            return WHOLE if head == self._NEW else None
        if head[0] == "-":
            return WHOLE
        self._old = None
        if head[0] == "+" and (self.paths or self._headless):
            return ADDED
        return WHOLE if head[0] in "@r" else SKIPPED

    def kind_of_line(self, line: str) -> str:
        """Take a line that ended inside `+++ ` for an added one."""
        self._old = None
        return ADDED if line and (self.paths or self._headless) else SKIPPED

    def line(self, text: str, end: int) -> None:
        """Read a header."""
        if text.startswith(self._NEW):
            new = _unified_path(text)
            paths = tuple(path for path in (new or self._old,) if path)
            self.name(paths, end, created=self._old == "")
            self._old = None
        elif text.startswith(self._OLD):
            self._old = _unified_path(text)
        elif text.startswith("@@"):
            self.part()
        elif text.startswith("rename to "):
            self.name((text.removeprefix("rename to ").strip(),), end)


def _unified_path(header: str) -> str:
    path = header[4:].partition("\t")[0].strip()
    if path == "/dev/null":
        return ""
    return path[2:] if path[:2] in ("a/", "b/") else path


class SearchReplaceReader(PatchReader):
    """Blocks of old text, a divider and new text, with 5 to 9 signs to a marker.

    Both spellings: `<<<<<<< SEARCH … >>>>>>> REPLACE` and `------- SEARCH … +++++++ REPLACE`.
    """

    _SEARCH = re.compile(r"(?:<{5,9}|-{5,9}) ?SEARCH>?\s*")
    _DIVIDER = re.compile(r"={5,9}\s*")
    _REPLACE = re.compile(r"(?:>{5,9}|\+{5,9}|<{5,9}) ?REPLACE>?\s*")

    def __init__(self, source: Growth) -> None:
        super().__init__(source)
        self._place = "outside"

    def kind(self, head: str) -> str | None:
        """Inside new text every line is added, but one that ends the block."""
        if self._place != "new":
            return WHOLE if head[0] in "<-=" else SKIPPED
        run = len(head) - len(head.lstrip(head[0])) if head[0] in ">+<" else 0
        rest = head[run:].removeprefix(" ")
        if not run or run >= _MARKER_SIGNS.stop or (rest and run not in _MARKER_SIGNS):
            return ADDED
        if rest.startswith("REPLACE"):
            return WHOLE
        return None if "REPLACE".startswith(rest) else ADDED

    def kind_of_line(self, _line: str) -> str:
        """Take a line that ended before it became a marker for text."""
        return ADDED if self._place == "new" else SKIPPED

    def line(self, text: str, end: int) -> None:
        """Read a marker."""
        match self._place:
            case "outside" if self._SEARCH.fullmatch(text):
                self._place = "old"
                self.name((), end)
            case "old" if self._DIVIDER.fullmatch(text):
                self._place = "new"
            case "new":
                if self._REPLACE.fullmatch(text):
                    self._place = "outside"
            case _:
                pass


class HashlineReader(PatchReader):
    """Sections headed by `[path#tag]`, operation lines, and rows that begin with `+`."""

    mark = 1
    _HEADER = re.compile(r"\[([^\]#]+)(?:#[0-9A-Za-z]{1,16})?\]\s*")

    def kind(self, head: str) -> str | None:
        """Only rows that begin with `+` are added."""
        if head[0] == "+" and self.paths:
            return ADDED
        return SKIPPED if head[0] in "+ -" else WHOLE

    def line(self, text: str, end: int) -> None:
        """Read a header or an operation."""
        header = self._HEADER.fullmatch(text)
        word, _, rest = text.partition(" ")
        if header is not None:
            self.name((header.group(1).strip(),), end)
        elif word == "MV" and self.paths and rest.strip():
            self.name((*self.paths, rest.strip()), end)
        elif word == "PUT":
            self.part()
