"""Patterns that only the engine understands: taken as written, decided at the end."""

from __future__ import annotations

import warnings

import regex

from rules_engine.dialect.errors import MAX_LOOPS, MAX_NESTING, MAX_UNROLLED, DialectError

HOLD_EVERYTHING = "(?s:.+)"
_COUNTS = regex.compile(r"\{([0-9]+)")
_FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}


def compile_native(source: str, letters: str, rejected: DialectError) -> regex.Pattern[str]:
    """Compile the engine's own reading; raise `rejected`, ECMAScript's error, if it has none."""
    flags = regex.VERSION0
    for letter in letters:
        flags |= _FLAGS[letter]
    if _is_too_large(source):
        raise rejected
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return regex.compile(source, flags)
    except (regex.error, RecursionError, OverflowError, MemoryError, ValueError, LookupError):
        raise rejected from None


def _is_too_large(source: str) -> bool:
    """Whether the engine could need much time or memory, judged without understanding it."""
    loops = source.count(")+") + source.count("){")
    size = len(source)
    for count in _COUNTS.findall(source):
        size *= max(int(count[:9]), 1)
    return source.count("(") > MAX_NESTING or loops > MAX_LOOPS or size > MAX_UNROLLED
