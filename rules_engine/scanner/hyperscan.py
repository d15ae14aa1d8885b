"""Streaming multi-pattern database over a rule set: one C call a delta, whatever their number.

The library is optional; without it `compile_database` gives nothing. A compiled database can be
written down as bytes and taken up again by whoever has the same patterns and the same library.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import cache

from rules_engine.dialect import Pattern
from rules_engine.dialect.prefilter import Prefilter

try:
    import hyperscan
except ImportError:  # no wheel for this platform, or not installed
    AVAILABLE = False
else:
    AVAILABLE = True

_HALVES = re.compile("[\ud800-\udfff]")


# Stands in every dump and in what it is known by; to be raised when either is made otherwise.
_FORMAT = b"ttsr-scanner 1\n"
_DIGEST = hashlib.sha256().digest_size

Numbered = list[tuple[int, Prefilter]]


def compile_database(patterns: Sequence[Pattern]) -> HyperscanScanner | None:
    """Compile what can be; None without the library. Takes milliseconds to seconds of one core."""
    if not AVAILABLE:
        return None
    taken = _accepted(_numbered(patterns))
    database = _compile(taken) if taken else None
    return None if database is None else HyperscanScanner(database, taken, patterns)


def database_key(patterns: Sequence[Pattern]) -> str | None:
    """Say in hexadecimal what a database depends on: expressions, library, processor, format.

    None where there is nothing to compile, or nothing to compile it with.
    """
    known = _numbered(patterns)
    if not AVAILABLE or not known:
        return None
    parts = [(number, each.expression) for number, each in known]
    written = json.dumps([_library(), len(patterns), parts]).encode()
    return hashlib.sha256(_FORMAT + written).hexdigest()


def restore_database(patterns: Sequence[Pattern], dump: bytes) -> HyperscanScanner | None:
    """Take up what `HyperscanScanner.dump` gave for the same patterns; None for anything else.

    Damage is found by a hash. Malice is not: only what nobody else could write may be given.
    """
    key = database_key(patterns)
    head = _FORMAT + bytes.fromhex(key or "")
    hashed, body = dump[len(head) : len(head) + _DIGEST], dump[len(head) + _DIGEST :]
    if key is None or not dump.startswith(head) or hashlib.sha256(body).digest() != hashed:
        return None
    listed, _, serialized = body.partition(b"\n")
    taken = frozenset(json.loads(listed))
    try:
        database = hyperscan.loadb(serialized, hyperscan.HS_MODE_STREAM)
        database.scratch = hyperscan.Scratch(database)  # a loaded one has none
    except hyperscan.error:
        return None
    entries = [entry for entry in _numbered(patterns) if entry[0] in taken]
    return HyperscanScanner(database, entries, patterns)


def _numbered(patterns: Sequence[Pattern]) -> Numbered:
    return [(n, each.prefilter) for n, each in enumerate(patterns) if each.prefilter is not None]


@cache
def _library() -> tuple[str, str, str]:
    """Name the library, and what of this processor its databases make use of."""
    database = hyperscan.Database(mode=hyperscan.HS_MODE_STREAM)
    database.compile(expressions=[b"x"], ids=[0], elements=1, flags=[0])
    return getattr(hyperscan, "__version__", ""), str(database.info()), platform.machine()


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

    def __init__(
        self, database: hyperscan.Database, entries: Numbered, patterns: Sequence[Pattern]
    ) -> None:
        self._database = database
        self._patterns = patterns
        self._lags = {number: each.lag for number, each in entries}
        self._numbers = frozenset(self._lags)
        self.blind = frozenset(range(len(patterns))) - self._numbers

    def lag(self, number: int) -> int | None:
        """How many units behind its report a match is decided at the latest."""
        return self._lags.get(number)

    def open(self) -> HyperscanStream:
        """Begin with a new text."""
        return HyperscanStream(self._database, self._numbers)

    def dump(self) -> bytes:
        """Write down everything that compiling was needed for; see `restore_database`."""
        body = json.dumps(sorted(self._lags)).encode() + b"\n" + hyperscan.dumpb(self._database)
        key = bytes.fromhex(database_key(self._patterns) or "")
        return _FORMAT + key + hashlib.sha256(body).digest() + body


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
