"""The sections of one call while they grow: the values that are handed out, and their windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rules_engine.arguments import ArgumentPath
from rules_engine.families import ToolFamily
from rules_engine.growth import Growth
from rules_engine.patches import PatchReader


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
    named_by_text: the text itself names the file (a patch header); `opened_at`: where in it the
    section begins.
    """

    key: str
    growth: Growth
    names: tuple[str, ...]
    floor: int
    argument: ArgumentPath = ()
    families: tuple[ToolFamily, ...] = ()
    named_by_text: bool = False
    opened_at: int = 0
    paths: tuple[str, ...] = ()
    settled: bool = False
    settled_at: int = 0
    taken: int = 0

    def settle(self, paths: tuple[str, ...], at: int) -> None:
        """Fix the path; `at`: the raw offset at which it was known.

        Where paths begin with the workspace's folder they are given without it too.
        """
        rooted = any(family.rooted for family in self.families)
        tails = tuple(path.partition("/")[2] for path in paths if rooted and path[:1] != "/")
        self.paths = tuple(dict.fromkeys((*paths, *filter(None, tails))))
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

    A file that the patch creates is also written: `write` is among that section's names.
    """

    reader: PatchReader
    source: Growth
    key: str
    names: tuple[str, ...]
    floor: int
    argument: ArgumentPath
    families: tuple[ToolFamily, ...]
    windows: list[Window]

    def lend(self, family: ToolFamily, canonical: tuple[str, ...]) -> None:
        """Let one more family explain the text."""
        self.families = (*self.families, family)
        self.names = tuple(dict.fromkeys((*self.names, *canonical)))
        for window in self.windows:
            window.lend(family, canonical)

    def feed(self, piece: str, start: int, into: Windows) -> list[Window]:
        """Read the next piece; give the windows that are new (not yet in `into`)."""
        self.reader.feed(piece, start)
        return self._sync(into)

    def close(self, into: Windows) -> list[Window]:
        """Read the last line; give the windows that are new (not yet in `into`)."""
        self.reader.close()
        return self._sync(into)

    def _sync(self, into: Windows) -> list[Window]:
        made = len(self.windows)
        if made:
            into.touch(self.windows[-1])
        self.windows += [self._window(n) for n in range(made, len(self.reader.sections))]
        return self.windows[made:]

    def _window(self, number: int) -> Window:
        section = self.reader.sections[number]
        made = ("write",) if section.created else ()
        window = Window(
            f"{self.key}/{number}",
            section.growth,
            tuple(dict.fromkeys((*self.names, *made))),
            self.floor,
            self.argument,
            self.families,
            named_by_text=bool(section.paths),
            opened_at=section.opened_at,
        )
        if section.paths:
            window.settle(section.paths, self.source.arrival(section.named_at))
        return window
