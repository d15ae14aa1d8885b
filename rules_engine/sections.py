"""The sections of one call while they grow: the values that are handed out, and their windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rules_engine.arguments import ArgumentPath
from rules_engine.families import ToolFamily
from rules_engine.globs import below, stands_alone
from rules_engine.growth import Growth
from rules_engine.patches import PatchSection, SectionReader


@dataclass(frozen=True, slots=True)
class Section:
    """The source that a call adds at one place (one file and edit), as far as it was read.

    key: stable identity inside the call. text: decoded, append-only. paths: the file as the call
    names it (several where the tool names several); empty where the tool has none.
    settled: tool and path can no longer change (keys already seen), so a hit may count now;
    `settled_at`: the offset in the call's raw argument text at which that became so.
    names: what a scope may call the tool as far as this section goes (the call's own names and
    canonical ones): a shell command that writes a file is also `write` for that file alone.
    """

    key: str
    text: str
    paths: tuple[str, ...]
    settled: bool
    settled_at: int
    names: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Window:
    """A section while it grows. `floor`: it cannot be settled before this raw offset.

    argument, families: where the text stands, and by whose account; they say where its path is.
    named: the files that the text itself names (in a patch header), known at the raw offset
    `named_at`. `opened_at`: the raw offset at which the section began.
    """

    key: str
    growth: Growth
    names: tuple[str, ...]
    floor: int
    argument: ArgumentPath = ()
    families: tuple[ToolFamily, ...] = ()
    named: tuple[str, ...] = ()
    named_at: int = 0
    opened_at: int = 0
    paths: tuple[str, ...] = ()
    settled: bool = False
    settled_at: int = 0
    taken: int = 0

    @property
    def awaits_directory(self) -> bool:
        """Whether an argument can say which directory the named files are in."""
        said = any(family.directory for family in self.families)
        return said and not all(map(stands_alone, self.named))

    def settle_named(self, paths: tuple[str, ...], at: int) -> None:
        """Fix the path to the named files, their directory being known at raw offset `at`."""
        self._fix(paths, max(at, self.named_at))

    def named_in(self, directory: str) -> tuple[str, ...]:
        """Give the named files, their paths taken from `directory`, which may be rooted."""
        places = (directory, *self._tails((directory,)))
        return tuple(below(place, path) for place in places for path in self.named)

    def settle(self, paths: tuple[str, ...], at: int) -> None:
        """Fix the path; `at`: the raw offset at which it was known.

        Where paths begin with the workspace's folder they are given without it too.
        """
        self._fix((*paths, *filter(None, self._tails(paths))), at)

    def _tails(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        rooted = any(family.rooted for family in self.families)
        return tuple(p.partition("/")[2] for p in paths if rooted and p[:1] not in ("", "/"))

    def _fix(self, paths: tuple[str, ...], at: int) -> None:
        self.paths = tuple(dict.fromkeys(paths))
        self.settled = True
        self.settled_at = max(self.floor, at)

    def lend(self, family: ToolFamily, canonical: tuple[str, ...]) -> None:
        """Let one more family explain the text."""
        self.families = (*self.families, family)
        self.names = tuple(dict.fromkeys((*self.names, *canonical)))

    def elsewhere(self, paths: tuple[str, ...], at: int) -> Window:
        """Give a window on the same text for files that became known at raw offset `at`."""
        other = Window(self.key, self.growth, self.names, at)
        other.settle(tuple(path for path in paths if path not in self.paths), at)
        return other

    def section(self, text: str) -> Section:
        """Give the value that is handed out, with `text` of it."""
        return Section(self.key, text, self.paths, self.settled, self.settled_at, self.names)


class Windows:
    """The windows of one call by key, and which of them changed since they were taken."""

    def __init__(self) -> None:
        self._all: dict[str, Window] = {}
        self._changed: dict[str, Window] = {}
        self.names: dict[str, None] = {}  # of all windows, in order

    def __bool__(self) -> bool:
        return bool(self._all)

    def __iter__(self) -> Iterator[Window]:
        return iter(tuple(self._all.values()))

    def add(self, window: Window) -> None:
        """Add a window; where its key is there already (a duplicate argument) it gets a number."""
        key, count = window.key, 1
        while window.key in self._all:
            count += 1
            window.key = f"{key}~{count}"
        self._all[window.key] = window
        self.touch(window)

    def add_in_order(self, windows: Iterable[Window]) -> list[Window]:
        """Add windows that several readers of one text made, as they stand in the text."""
        ordered = sorted(windows, key=lambda window: window.opened_at)
        for window in ordered:
            self.add(window)
        return ordered

    def touch(self, window: Window) -> None:
        """Note that a window changed."""
        self._changed[window.key] = window
        for name in window.names:
            self.names.setdefault(name)

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections, with their whole text."""
        return tuple(window.section(window.growth.text) for window in self._all.values())

    def take(self) -> tuple[Section, ...]:
        """Give the changed sections, each with only its new text."""
        taken = []
        for window in self._changed.values():
            taken.append(window.section(window.growth.since(window.taken)))
            window.taken = window.growth.length
        self._changed.clear()
        return tuple(taken)

    def arrival(self, key: str, length: int) -> int:
        """Give the raw offset after which `length` characters of a section were known."""
        return self._all[key].growth.arrival(length)


@dataclass(slots=True, eq=False)
class PatchText:
    """A patch text being read, and the windows of its sections so far (in the same order).

    A file that the patch creates is also written: `write` is among that section's names. `own`:
    the names that the tool has by itself, for sections whose text says what else they are.
    """

    reader: SectionReader
    source: Growth
    key: str
    names: tuple[str, ...]
    floor: int
    argument: ArgumentPath
    families: tuple[ToolFamily, ...]
    windows: list[Window]
    own: tuple[str, ...] = ()
    _growing: list[tuple[PatchSection, Window]] = field(default_factory=list)
    _closed: bool = False

    def lend(self, family: ToolFamily, canonical: tuple[str, ...]) -> None:
        """Let one more family explain the text."""
        self.families = (*self.families, family)
        self.names = tuple(dict.fromkeys((*self.names, *canonical)))
        for window in self.windows:
            window.lend(family, canonical)

    def feed(self, piece: str, start: int, into: Windows) -> list[Window]:
        """Read the next piece; give the windows that are new (not yet in `into`)."""
        self.reader.feed(piece, start)
        return self._sync(into, self.floor)

    def close(self, into: Windows, at: int) -> list[Window]:
        """End the text at raw offset `at`; give the windows that are new (not yet in `into`)."""
        if self._closed:
            return []
        self._closed = True
        self.reader.close()
        return self._sync(into, max(self.floor, at))

    def _sync(self, into: Windows, floor: int) -> list[Window]:
        for _, window in self._growing:
            if window.growth.length > window.taken:
                into.touch(window)
        made = len(self.windows)
        for section in self.reader.sections[made:]:
            self.windows.append(self._window(section, len(self.windows), floor))
            self._growing.append((section, self.windows[-1]))
        self._growing = [each for each in self._growing if not each[0].finished]
        return self.windows[made:]

    def _window(self, section: PatchSection, number: int, floor: int) -> Window:
        made = ("write",) if section.created else ()
        names = self.names if section.names is None else (*self.own, *section.names)
        window = Window(
            f"{self.key}/{number}",
            section.growth,
            tuple(dict.fromkeys((*names, *made))),
            floor,
            self.argument,
            self.families,
            named=section.paths,
            named_at=section.source.arrival(section.named_at),
            opened_at=section.source.arrival(section.opened_at),
        )
        if section.paths and not window.awaits_directory:
            window.settle_named(window.named, window.named_at)
        return window
