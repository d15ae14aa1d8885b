"""Streaming multi-pattern database over a rule set: one C call a delta, whatever their number.

The library is optional; without it `compile_database` gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress

from rules_engine.dialect import Pattern
from rules_engine.dialect.prefilter import Prefilter

try:
    import hyperscan
except ImportError:  # no wheel for this platform, or not installed
    AVAILABLE = False
else:
    AVAILABLE = True

_HALVES = re.compile("[\ud800-\udfff]")


def compile_database(patterns: Sequence[Pattern]) -> HyperscanScanner | None:
    """Compile what can be; None without the library. Takes milliseconds to seconds of one core."""
    if not AVAILABLE:
        return None
    known = [(n, each.prefilter) for n, each in enumerate(patterns) if each.prefilter is not None]
    taken = _accepted(known)
    database = _compile(taken) if taken else None
    return None if database is None else HyperscanScanner(database, taken, len(patterns))


Numbered = list[tuple[int, Prefilter]]


def _accepted(entries: Numbered) -> Numbered:
    """Leave out what the library refuses, found by halves."""
    if not entries or _compile(entries) is not None:
        return entries
    if len(entries) == 1:
        return []
    middle = len(entries) // 2
    return _accepted(entries[:middle]) + _accepted(entries[middle:])


def _compile(entries: Numbered) -> hyperscan.Database | None:
    database = hyperscan.Database(mode=hyperscan.HS_MODE_STREAM)
    try:
        database.compile(
            expressions=[each.expression.encode() for _, each in entries],
            ids=[number for number, _ in entries],
            elements=len(entries),
            flags=[0] * len(entries),
        )
    except hyperscan.error:
        return None
    return database


class HyperscanScanner:
    """A compiled database. Its streams must be fed on one thread."""

    def __init__(self, database: hyperscan.Database, entries: Numbered, count: int) -> None:
        self._database = database
        self._lags = {number: each.lag for number, each in entries}
        self.blind = frozenset(range(count)) - self._lags.keys()

    def lag(self, number: int) -> int | None:
        """How many units behind its report a match is decided at the latest."""
        return self._lags.get(number)

    def open(self) -> HyperscanStream:
        """Begin with a new text."""
        return HyperscanStream(self._database, frozenset(self._lags))


class HyperscanStream:
    """One text on its way through the database."""

    __slots__ = ("_all", "_broken", "_database", "_report", "_seen", "_stream")

    def __init__(self, database: hyperscan.Database, numbers: frozenset[int]) -> None:
        seen: list[int] = []

        def report(number: int, _start: int, _end: int, _flags: int, _context: object) -> None:
            seen.append(number)

        self._seen = seen
        self._all = numbers
        self._broken = False
        # The library's stream keeps neither of these alive.
        self._database = database
        self._report = report
        # It counts one reference too many for itself, which entering it (once) takes back.
        self._stream = database.stream(match_event_handler=report)
        self._stream.__enter__()

    def __del__(self) -> None:
        # The library's own destructor leaves the engine's state behind.
        with suppress(hyperscan.error):
            self._stream.close()

    def feed(self, text: str) -> Collection[int]:
        """Read the next piece; returns the patterns with a report in it."""
        if self._broken:
            return self._all
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = _HALVES.sub("\ufffd", text).encode()
        try:
            self._stream.scan(data)
        except hyperscan.error:
            # What it missed is not known, so from here on every pattern is asked itself.
            self._broken = True
            return self._all
        if not self._seen:
            return ()
        found = set(self._seen)
        self._seen.clear()
        return found
