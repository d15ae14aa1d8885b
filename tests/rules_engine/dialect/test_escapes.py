"""Escapes with the legacy forms of Annex B."""

from __future__ import annotations

import pytest

from rules_engine.dialect.charset import DIGITS, SPACE, WORD, chars, complement
from rules_engine.dialect.errors import DialectError
from rules_engine.dialect.escapes import read_atom_escape, read_class_escape
from rules_engine.dialect.source import Cursor


@pytest.mark.parametrize(
    ("source", "expected", "rest"),
    [
        ("n", "\n", ""),
        ("v", "\v", ""),
        ("cA", "\x01", ""),
        ("c1", "\\", "c1"),
        ("c", "\\", "c"),
        ("x41", "A", ""),
        ("x4", "x", "4"),
        ("u0041", "A", ""),
        ("u{41}", "u", "{41}"),
        ("0", "\0", ""),
        ("101", "A", ""),
        ("4001", "\x20", "01"),
        ("8", "8", ""),
        ("p{L}", "p", "{L}"),
        ("-", "-", ""),
    ],
)
def test_atom_escape_reads_one_unit(source: str, expected: str, rest: str) -> None:
    """An escape that is not complete stands for its letter, and the rest for itself."""
    cursor = Cursor(source)
    assert read_atom_escape(cursor) == chars(expected)
    assert cursor.units[cursor.at :] == rest


def test_class_escapes_are_sets() -> None:
    """A capital is the complement of its small letter."""
    assert read_atom_escape(Cursor("d")) == DIGITS
    assert read_atom_escape(Cursor("S")) == complement(SPACE)
    assert read_atom_escape(Cursor("W")) == complement(WORD)


@pytest.mark.parametrize(
    ("source", "expected"), [("b", "\b"), ("B", "B"), ("c_", "\x1f"), ("c1", "\x11"), ("k", "k")]
)
def test_class_escape_differs_in_brackets(source: str, expected: str) -> None:
    """In brackets the word edge is a backspace and more characters make controls."""
    assert read_class_escape(Cursor(source), named=False) == chars(expected)


def test_escape_errors_name_the_place() -> None:
    """A lone backslash, and a name's mark in brackets, are refused."""
    with pytest.raises(DialectError, match="lone backslash"):
        read_atom_escape(Cursor(""))
    with pytest.raises(DialectError, match="named groups"):
        read_class_escape(Cursor("k"), named=True)
