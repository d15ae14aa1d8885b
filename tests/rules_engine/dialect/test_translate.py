"""The three forms, against brute force over every continuation."""

from __future__ import annotations

from random import Random

import pytest

from rules_engine.dialect import Pattern, compile_pattern
from rules_engine.dialect.errors import MAX_LOOPS, DialectError
from tests.rules_engine.dialect.continuations import ALPHABET, faults, late
from tests.rules_engine.dialect.grammar import FOLDED, HALVES, SMALL, Grammar, Vocabulary


def _patterns(
    seed: int, count: int, *, words: Vocabulary = SMALL, flags: str = "ms", foreign: bool = False
) -> list[Pattern]:
    """Compile random patterns, half of them under the first flag as a whole."""
    rng = Random(seed)
    found = []
    for _ in range(count):
        source = Grammar(rng, words, flags, foreign=foreign).pattern(rng.choice((1, 2, 3)))
        pattern = compile_pattern(rng.choice(("", f"(?{flags[0]})")) + source)
        if not pattern.native:
            found.append(pattern)
    return found


def _told(patterns: list[Pattern], longest: int, alphabet: str = ALPHABET) -> list[tuple[str, str]]:
    return [
        (pattern.source, fault)
        for pattern in patterns
        for fault in faults(pattern, longest, alphabet)
    ]


def test_forms_agree_with_every_continuation() -> None:
    """What is certain stays so, the hold position never moves back, nothing is let go early."""
    assert _told(_patterns(1, 500), 5) == []


def test_forms_agree_on_longer_texts() -> None:
    """The same on texts where a pattern can look further."""
    assert _told(_patterns(2, 25), 7) == []


def test_forms_agree_with_atomic_parts() -> None:
    """Parts that keep their first way of matching are decided late, never wrongly."""
    assert _told(_patterns(3, 200, foreign=True), 5) == []


@pytest.mark.parametrize(("words", "flags"), [(FOLDED, "i"), (HALVES, "s")])
def test_forms_agree_on_other_alphabets(words: Vocabulary, flags: str) -> None:
    """The same without regard to case, and on halves of astral characters."""
    patterns = _patterns(5, 200, words=words, flags=flags)
    assert _told(patterns, 5, "".join(words.texts)) == []


def test_forms_are_seldom_late() -> None:
    """The streaming form misses few of the matches that no continuation can undo."""
    counts = [late(pattern, 6) for pattern in _patterns(4, 150)]
    inevitable, unseen = (sum(column) for column in zip(*counts, strict=True))
    assert inevitable > 10_000
    assert unseen < 0.1 * inevitable


@pytest.mark.parametrize(
    "source",
    [
        "x(a)(?!\\1)",
        "(?!a(?!^b))",
        "(?m)a(?!^)",
        "(?m)(?=^)(?!a^)",
        "a(?!(?<=a)b)",
        "(a)(?<!\\1b)(?=\\1)",
        "(?=(a+))\\1b",
        "(?<=(a|ab))\\1",
        "(?:(?!(a)b)a)*\\1$",
        "(?:a|b|)*(?:a|)+\\B",
        "(?<=a(?=b))",
        "(?<!a\\b)",
        "\\b(?:a+){2,}$",
        "(?m)(?<!^a)b$",
        "[]a|(?![])b(?=[])?",
        "(?<!b$)(?<=^)a?",
    ],
)
def test_forms_agree_where_they_were_hard(source: str) -> None:
    """Conditions inside negations, unset and cut captures, empty turns, empty sets."""
    assert _told([compile_pattern(source)], 6) == []


def test_streaming_form_is_missing_where_only_the_end_decides() -> None:
    """The absolute end, atomic parts and captures out of lookaheads are decided there."""
    for source in ("a$", "(?=(a+))\\1", "a++b", "a(?:$|(?!))"):
        pattern = compile_pattern(source)
        assert pattern.streaming is None
        assert "it can be decided only when the output has ended" in pattern.notes
    assert compile_pattern("a$|b").streaming is not None


def test_nested_empty_repeats_have_a_limit() -> None:
    """A pattern whose translation would explode is refused with advice."""
    source = "ab" * 2_500
    for _ in range(MAX_LOOPS):
        source = f"(?:{source}|)+"
    with pytest.raises(DialectError, match="nested too deep"):
        compile_pattern(source)
