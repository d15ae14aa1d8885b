"""The dialect's error."""

from __future__ import annotations

from rules_engine.dialect.errors import DialectError


def test_dialect_error_says_where_and_why() -> None:
    """People count from one; the offset, for programs, from zero."""
    error = DialectError("nothing to repeat; remove it", 4)
    assert str(error) == "at character 5 of the pattern: nothing to repeat; remove it"
    assert (error.reason, error.offset) == ("nothing to repeat; remove it", 4)
