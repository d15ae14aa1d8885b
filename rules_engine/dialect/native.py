"""Patterns that only the engine understands: taken as written, decided at the end."""

from __future__ import annotations

import warnings

import regex

from rules_engine.dialect.errors import MAX_LOOPS, MAX_NESTING, DialectError

HOLD_EVERYTHING = "(?s:.+)"
_FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}


def compile_native(source: str, letters: str, rejected: DialectError) -> regex.Pattern[str]:
    """Compile the engine's own reading; raise `rejected`, ECMAScript's error, if it has none."""
    flags = regex.VERSION0
    for letter in letters:
        flags |= _FLAGS[letter]
    loops = source.count(")+") + source.count("){")
    if source.count("(") > MAX_NESTING or loops > MAX_LOOPS:
        raise rejected
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return regex.compile(source, flags)
    except (regex.error, RecursionError, OverflowError, ValueError, KeyError, TypeError):
        raise rejected from None
