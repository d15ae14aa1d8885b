"""What every reader of a call shares: its name, the text that came before it, its windows."""

from __future__ import annotations

from rules_engine.families import ToolFamily, named, own_names
from rules_engine.sections import Section, Windows


class Reader:
    """What both readers share: the name, the raw text until it is known, the windows."""

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
