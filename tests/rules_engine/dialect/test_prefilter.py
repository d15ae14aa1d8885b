"""Wider patterns for a scanner of bytes."""

from __future__ import annotations

import re
from random import Random

import pytest

from rules_engine.dialect import DialectError, Pattern, compile_pattern
from rules_engine.dialect.units import split_units
from tests.rules_engine.dialect.grammar import BROAD, HALVES, SMALL, Grammar, Vocabulary


def _expression(source: str) -> str | None:
    prefilter = compile_pattern(source).prefilter
    return None if prefilter is None else prefilter.expression


@pytest.mark.parametrize(
    ("source", "expression"),
    [
        ("ab", r"\x61\x62"),
        ("(?i)a1", r"[\x41\x61]\x31"),
        (r"\s*\bab\b.*", r"\b\x61\x62"),
        ("ab(?!c)$", r"\x61\x62"),
        ("^(?<=x)ab", r"\x61\x62"),
        ("é", r"(?:\xc3\xa9)"),
        ("a[^b]c", r"\x61[\x00-\x61\x63-\x7f\x80-\xff]{0,4}\x63"),
        (r"(a)\1b", r"\x61[\x00-\x7f\x80-\xff]{0,4}\x62"),
        ("xa{3,900}b", r"\x78\x61{3,}\x62"),
        ("a(?:b{2}|[])c", r"\x61(?:\x62{2,2})\x63"),
        (".*", None),
        ("(?=a)", None),
        ("a|", None),
        ("[^a]", None),
        ("[]", None),
    ],
)
def test_prefilter_keeps_what_every_match_must_take(source: str, expression: str | None) -> None:
    """Conditions go, and what may be missing at either end."""
    assert _expression(source) == expression


def _random_pattern(rng: Random, words: Vocabulary) -> Pattern:
    while True:
        try:
            return compile_pattern(
                rng.choice(("", "(?i)", "(?m)")) + Grammar(rng, words).pattern(2)
            )
        except DialectError:
            continue


def _encoded(text: str) -> bytes:
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


@pytest.mark.parametrize("words", [SMALL, BROAD, HALVES])
def test_prefilter_matches_wherever_the_pattern_does(words: Vocabulary) -> None:
    """In a text that the pattern matches, the wider one matches up to the match's end."""
    rng = Random(3)
    for _ in range(200):
        pattern = _random_pattern(rng, words)
        if pattern.prefilter is None:
            continue
        wider = re.compile(pattern.prefilter.expression.encode(), re.DOTALL)
        for _ in range(6):
            text = Grammar(rng, words).text(8)
            units = split_units(text) if pattern.in_units else text
            found = pattern.final.search(units)
            assert found is None or wider.search(_encoded(text)) is not None
