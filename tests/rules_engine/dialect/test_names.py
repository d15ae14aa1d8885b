"""Group names."""

from __future__ import annotations

import pytest

from rules_engine.dialect.errors import DialectError
from rules_engine.dialect.names import may_share, read_name, take_census
from rules_engine.dialect.source import Cursor


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("year>", "year"),
        ("$_1>", "$_1"),
        ("\\u0061b>", "ab"),
        ("\\u{1d49c}>", "\U0001d49c"),
        ("\U0001d49c>", "\U0001d49c"),
        ("\\ud835\\udc9c>", "\U0001d49c"),
    ],
)
def test_read_name_takes_identifiers(source: str, name: str) -> None:
    """A name is spelt as an identifier, with escapes if need be."""
    assert read_name(Cursor(source)) == name


@pytest.mark.parametrize("source", ["", "1a>", ">", "a", "a-b>", "\\x61>", "\\u{110000}>", "\\u1>"])
def test_read_name_refuses_what_is_none(source: str) -> None:
    """Anything else is an error."""
    with pytest.raises(DialectError):
        read_name(Cursor(source))


def test_census_counts_groups_outside_classes_and_escapes() -> None:
    """Only brackets that capture are counted, in the order in which they open."""
    census = take_census(Cursor(r"\((a)[(](?:b)(?<x>c)(?<=d)(?<!e)(?P<y>f)|(?<x>g)"))
    assert census.groups == 4
    assert census.names == {"x": (2, 4), "y": (3,)}


def test_may_share_needs_different_alternatives() -> None:
    """Two groups exclude each other only in different alternatives of the same choice."""
    assert may_share(((1, 0), (2, 0)), ((1, 0), (2, 1)))
    assert not may_share(((1, 0), (2, 0)), ((1, 0), (3, 1)))
