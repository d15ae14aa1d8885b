"""Bracketed classes."""

from __future__ import annotations

import pytest

from rules_engine.dialect.charset import ALL, DIGITS, chars, charset, complement
from rules_engine.dialect.classes import read_class
from rules_engine.dialect.errors import DialectError
from rules_engine.dialect.source import Cursor


def _read(source: str, *, ignore_case: bool = False) -> object:
    cursor = Cursor(source)
    cursor.at = 1
    return read_class(cursor, ignore_case=ignore_case, named=False)


def test_class_reads_members_and_ranges() -> None:
    """Members, ranges and escapes add up; a hyphen at an end is a member."""
    assert _read("[a-c-]") == charset(((0x61, 0x63), (0x2D, 0x2D)))
    assert _read("[]") == ()
    assert _read("[^]") == ALL
    assert _read("[^ab]") == complement(chars("ab"))


def test_class_takes_a_set_at_a_range_end_as_a_member() -> None:
    """With a set at one end, the hyphen stands for itself."""
    assert _read("[\\d-x]") == charset((*DIGITS, *chars("-x")))
    assert _read("[a-\\d]") == charset((*DIGITS, *chars("-a")))


def test_class_folds_before_it_is_inverted() -> None:
    """Without regard to case, what is excluded is excluded in both cases."""
    assert _read("[^k]", ignore_case=True) == complement(chars("kK"))


@pytest.mark.parametrize(("source", "reason"), [("[ab", "not closed"), ("[b-a]", "backwards")])
def test_class_errors_say_what_is_wrong(source: str, reason: str) -> None:
    """An open class and a reversed range are refused."""
    with pytest.raises(DialectError, match=reason):
        _read(source)
