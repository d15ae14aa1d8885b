"""Literals for scanners."""

from __future__ import annotations

from random import Random

import pytest

from rules_engine.dialect import compile_pattern
from rules_engine.dialect.literals import Literals, find_literals
from rules_engine.dialect.parse import Flags, parse
from tests.rules_engine.dialect.grammar import SMALL, Grammar


def _find(source: str, *, ignore_case: bool = False) -> Literals:
    return find_literals(parse(source, Flags(ignore_case=ignore_case)))


@pytest.mark.parametrize(
    ("source", "contained", "prefixes"),
    [
        ("TODO", {"TODO"}, {"TODO"}),
        (":\\s*any\\b", {"any"}, {":"}),
        ("\\b(?:foo|bar)\\(", {"foo(", "bar("}, {"foo(", "bar("}),
        ("(?:foo|\\w+)x", {"x"}, set()),
        ("import\\s+foobar\\s+from", {"foobar"}, {"import"}),
        ("a?bc", {"bc"}, set()),
        ("(?:ab)+c", {"ab"}, {"ab"}),
        ("[ab]c", {"ac", "bc"}, {"ac", "bc"}),
        ("\\w+", set(), set()),
        ("a|", set(), set()),
        ("(?=foo)", set(), set()),
        ("—\\s", {"—"}, {"—"}),
        ("é1", {"1"}, set()),
        ("a\U0001f600", {"a"}, {"a"}),
        ("[a-d]{2}[a-d]", {"a", "b", "c", "d"}, {"a", "b", "c", "d"}),
        ("[a-d][a-d][a-d]x", {"ax"}, {"aa"}),
    ],
)
def test_find_literals_finds_what_every_match_needs(
    source: str, contained: set[str], prefixes: set[str]
) -> None:
    """The longest sure strings are taken, and none where nothing is sure."""
    found = _find(source)
    assert contained <= set(found.contained)
    assert bool(contained) == bool(found.contained)
    assert prefixes <= set(found.prefixes)
    assert bool(prefixes) == bool(found.prefixes)
    assert not found.folded


def test_find_literals_folds_ascii_letters() -> None:
    """Without regard to case literals are in small letters and say so."""
    assert _find("ToDo", ignore_case=True) == Literals(("todo",), ("todo",), folded=True)
    assert _find("(?i:a)B") == Literals(("ab",), ("ab",), folded=True)
    assert _find("12", ignore_case=True) == Literals(("12",), ("12",), folded=False)


def test_find_literals_stays_small() -> None:
    """Many alternatives, or a very long string, give up in time."""
    many = "|".join(f"{number:02}" for number in range(40))
    assert _find(many) == Literals((), (), folded=False)
    assert max(map(len, _find("x" * 500).contained)) <= 64


def test_literals_are_in_every_match() -> None:
    """Whatever a random pattern matches contains a literal and begins with a prefix."""
    rng = Random(5)
    for _ in range(400):
        grammar = Grammar(rng, SMALL)
        pattern = compile_pattern(grammar.pattern())
        for _ in range(10):
            text = grammar.text(8)
            for found in pattern.final.finditer(text):
                assert not pattern.literals or any(part in found[0] for part in pattern.literals)
                assert not pattern.prefixes or found[0].startswith(pattern.prefixes)
