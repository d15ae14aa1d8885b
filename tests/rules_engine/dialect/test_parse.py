"""The parser."""

from __future__ import annotations

import pytest

from rules_engine.dialect.charset import ALL, DOT, chars
from rules_engine.dialect.errors import MAX_LOOPS, MAX_NESTING, MAX_REPEAT, DialectError
from rules_engine.dialect.nodes import (
    EMPTY,
    Assertion,
    Atomic,
    Chars,
    Choice,
    Edge,
    Group,
    Look,
    Node,
    Reference,
    Repeat,
    Sequence,
)
from rules_engine.dialect.parse import Flags, parse

A = Chars(chars("a"))
B = Chars(chars("b"))


def _parse(source: str, *, extended: bool = False) -> Node:
    return parse(source, Flags(), extended=extended)


def _text(text: str) -> Node:
    return Sequence(tuple(Chars(chars(char)) for char in text))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", EMPTY),
        ("a|b|", Choice((A, B, EMPTY))),
        ("(a)(?:b)", Sequence((Group(A, 1), B))),
        ("a{2,3}?", Repeat(A, 2, 3, lazy=True)),
        ("a{2}", Repeat(A, 2, 2, lazy=False)),
        ("a{0}", EMPTY),
        ("(?=a)*", EMPTY),
        ("(?=a){2}", Look(A, ahead=True, negative=False)),
        ("(?:^)*", Repeat(Edge(Assertion.START), 0, None, lazy=False)),
        ("(?<!a)$", Sequence((Look(A, ahead=False, negative=True), Edge(Assertion.END)))),
        ("(?<x>a)\\k<x>", Sequence((Group(A, 1), Reference((1,), folded=False)))),
        ("\\1(a)", Sequence((Reference((1,), folded=False), Group(A, 1)))),
        ("\\1", Chars(chars("\1"))),
        ("\\k<x>", _text("k<x>")),
        ("a{,2}", _text("a{,2}")),
        ("]}{", _text("]}{")),
    ],
)
def test_parse_builds_the_tree(source: str, expected: Node) -> None:
    """The web's grammar, legacy forms included."""
    assert _parse(source) == expected


def test_parse_resolves_flags_where_they_stand() -> None:
    """A modifier holds for its group only, and nothing below the parser knows of flags."""
    assert parse("(?s-i:.a)a.", Flags(ignore_case=True)) == Sequence(
        (Sequence((Chars(ALL), A)), Chars(chars("aA")), Chars(DOT))
    )
    assert parse("(?m:^$)^", Flags()) == Sequence(
        (
            Sequence((Edge(Assertion.LINE_START), Edge(Assertion.LINE_END))),
            Edge(Assertion.START),
        )
    )


def test_parse_joins_the_groups_of_a_shared_name() -> None:
    """Alternatives may share a name; a reference then means whichever was set."""
    tree = _parse("(?:(?<x>a)|(?<x>b))\\k<x>")
    assert tree == Sequence((Choice((Group(A, 1), Group(B, 2))), Reference((1, 2), folded=False)))


@pytest.mark.parametrize(
    ("source", "offset"),
    [
        ("*a", 0),
        ("a**", 2),
        ("{1}", 0),
        ("a{2,1}", 1),
        ("(a", 0),
        ("a)", 1),
        ("[a", 0),
        ("a\\", 1),
        ("(?<=a)*", 6),
        ("\\b+", 2),
        ("(?a)", 0),
        ("(?ii:a)", 0),
        ("(?-:a)", 0),
        ("(?>a)", 0),
        ("a++", 2),
        ("(?<x>a)\\k<y>", 12),
        ("(?<x>a)\\k", 7),
        ("(?<x>a)(?<x>b)", 12),
        (f"a{{{MAX_REPEAT + 1}}}", 1),
        ("(" * (MAX_NESTING + 1), MAX_NESTING),
        ("(?:a{1000}b){100}", 0),
        ("(?:a" * (MAX_LOOPS + 2) + ")+" * (MAX_LOOPS + 2), 0),
    ],
)
def test_parse_errors_tell_the_place(source: str, offset: int) -> None:
    """What cannot be read is refused where it is wrong."""
    with pytest.raises(DialectError) as caught:
        _parse(source)
    assert caught.value.offset == offset


def test_parse_extended_takes_what_the_engine_adds() -> None:
    """Atomic groups, possessive quantifiers, named groups of the other kind, comments."""
    assert _parse("(?>a)", extended=True) == Atomic(A)
    assert _parse("a++", extended=True) == Atomic(Repeat(A, 1, None, lazy=False))
    assert _parse("(?P<x>a)(?P=x)", extended=True) == _parse("(?<x>a)\\k<x>")
    assert _parse("(?#note)a", extended=True) == Sequence((EMPTY, A))
    for broken in ("(?P=x)", "(?P=x", "(?#x"):
        with pytest.raises(DialectError):
            _parse(broken, extended=True)
