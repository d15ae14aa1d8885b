"""Time that a search may take."""

from __future__ import annotations

import pytest

from rules_engine.dialect import compile_pattern
from rules_engine.dialect.parse import Flags, parse
from rules_engine.dialect.risk import assess


def _patience(source: str) -> int:
    return assess(parse(source, Flags())).patience


def test_patience_shrinks_with_the_loops() -> None:
    """The more a pattern can go back on, the shorter the texts that are sure to be quick."""
    ladder = ["foo", "fo+", "a+b+", "a+b+c+d+", "(?:a+b?)+"]
    assert sorted(map(_patience, ladder), reverse=True) == list(map(_patience, ladder))
    assert _patience("foo") > 16_384
    assert _patience("(a)(?:\\1|b)") < _patience("foo")


@pytest.mark.parametrize("source", ["(?:a|aa)+$", "x(?:a|a)*$", "(?=(?:a|a)*c)"])
def test_exploding_patterns_are_noted(source: str) -> None:
    """A short text of a loop's own turns shows an exponential pattern."""
    assert any("exponentially" in note for note in compile_pattern(source).notes)


@pytest.mark.parametrize(
    "source",
    [
        "(?:\\w+,)*;",
        "TODO.*",
        "(?:foo|bar)+x",
        "(['\"])(?:a|b)*\\1",
        "(?:[]+|\\d)*x",
        "(?:(?=a)|\\b)*",
    ],
)
def test_harmless_loops_are_not_noted(source: str) -> None:
    """A loop whose turns exclude each other is no danger, whatever its shape."""
    assert not any("exponentially" in note for note in compile_pattern(source).notes)
