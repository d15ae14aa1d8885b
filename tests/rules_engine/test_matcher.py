"""The scanners of a rule set."""

from __future__ import annotations

import pytest

from rules_engine.dialect import compile_pattern
from rules_engine.matcher import Matcher
from rules_engine.scanner.literals import LiteralScanner


def test_pattern_of_several_rules_is_scanned_for_once() -> None:
    """Patterns are numbered by their sources."""
    matcher = Matcher(map(compile_pattern, ("a", "b", "a")))
    assert matcher.numbers == {"a": 0, "b": 1}
    assert [pattern.source for pattern in matcher.patterns] == ["a", "b"]


def test_literals_serve_until_the_database_is_adopted() -> None:
    """What could not be compiled changes nothing."""
    matcher = Matcher([compile_pattern("foo")])
    assert isinstance(matcher.scanner, LiteralScanner)
    matcher.adopt(None)
    assert not matcher.compiled
    assert isinstance(matcher.scanner, LiteralScanner)


def test_database_is_compiled_by_one() -> None:
    """Of several who would, the first has to."""
    matcher = Matcher([])
    assert [matcher.claim() for _ in range(3)] == [True, False, False]
    assert matcher.compile() is None


def test_adopted_database_serves_what_opens_then() -> None:
    """Compiling alone touches nothing."""
    pytest.importorskip("hyperscan")
    matcher = Matcher([compile_pattern("foo")])
    database = matcher.compile()
    assert database is not None
    assert not matcher.compiled
    matcher.adopt(database)
    assert matcher.scanner is database


def test_prepared_matcher_has_what_windows_need() -> None:
    """Nothing is left to be made when the first one opens."""
    matcher = Matcher([compile_pattern("foo")])
    matcher.prepare()
    assert {"_literals", "beginnings"} <= vars(matcher).keys()
