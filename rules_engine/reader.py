"""What every reader of a call shares: its name, the text that came before it, its windows."""

from __future__ import annotations

from collections.abc import Iterable

from rules_engine.families import ToolFamily, named, own_names
from rules_engine.growth import Growth, Joiner
from rules_engine.sections import Section, Window, Windows


class Reader:
    """What all readers share: the name, the raw text until it is known, the windows."""

    def __init__(self, families: tuple[ToolFamily, ...], windows: Windows | None = None) -> None:
        self._families = families
        self._windows = Windows() if windows is None else windows
        self._own: tuple[str, ...] = ()
        self._named = False
        self._closed = False
        self._raw: list[str] = []
        self._fed = 0
        self._named_at = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The tool's own name and those of every section."""
        return tuple(dict.fromkeys((*self._own, *self._windows.names)))

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections so far."""
        return self._windows.sections

    def take(self) -> tuple[Section, ...]:
        """Give what is new."""
        return self._windows.take()

    def arrival(self, key: str, length: int) -> int:
        """Give the raw offset at which `length` characters of a section were known."""
        return self._windows.arrival(key, length)

    def name(self, name: str) -> None:
        """Settle the name; arguments that came before it are read now."""
        if self._named:
            return
        self._named = True
        self._named_at = self._fed
        self._own = own_names(name) if name.strip() else ()
        self._begin(named(self._families, name) if self._own else ())
        if self._raw:
            self._read("".join(self._raw), 0)

    def feed(self, text: str) -> None:
        """Read the next piece of raw text."""
        if self._closed or not text:
            return
        self._raw.append(text)
        start, self._fed = self._fed, self._fed + len(text)
        if self._named:
            self._read(text, start)

    def close(self) -> None:
        """Finish; a call that was never named is read without a name."""
        if not self._closed:
            self.name("")
            self._closed = True
            self._finish()

    def _begin(self, families: tuple[ToolFamily, ...]) -> None:
        raise NotImplementedError

    def _read(self, text: str, start: int) -> None:
        raise NotImplementedError

    def _finish(self) -> None:
        raise NotImplementedError


class TextReader(Reader):
    """Reads raw text as it stands: one growth, each piece of it passed on once."""

    def __init__(self, families: tuple[ToolFamily, ...], windows: Windows | None = None) -> None:
        super().__init__(families, windows)
        self._growth = Growth()
        self._joiner = Joiner(self._growth)
        self._told = 0

    def _read(self, text: str, start: int) -> None:
        self._joiner.write(text, start)
        self._pass_on()

    def _finish(self) -> None:
        self._joiner.end(self._fed)
        self._pass_on()
        self._end()

    def _pass_on(self) -> None:
        piece, start = self._growth.since(self._told), self._told
        self._told = self._growth.length
        self._piece(piece, start)

    def _add(self, windows: Iterable[Window], paths: tuple[str, ...] = ()) -> None:
        """Add windows; one that names no file of its own is of `paths`."""
        for window in self._windows.add_in_order(windows):
            if not window.settled:
                window.settle(paths, 0)

    def _piece(self, text: str, start: int) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError
