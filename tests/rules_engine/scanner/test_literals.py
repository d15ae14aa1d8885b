"""The scanners in Python."""

from __future__ import annotations

import pytest

from rules_engine.dialect import compile_pattern
from rules_engine.scanner.literals import NO_TAIL, Beginnings, LiteralScanner, Tail


def _scanner(*sources: str) -> LiteralScanner:
    return LiteralScanner([compile_pattern(source) for source in sources])


def test_literal_scanner_reports_with_the_piece_that_completes_a_literal() -> None:
    """A literal may be cut anywhere, and is reported once for each time it comes."""
    stream = _scanner("foo", r"x\s+bar").open()
    assert [set(stream.feed(piece)) for piece in ("a fo", "o b", "arfoo", "")] == [
        set(),
        {0},
        {1, 0},
        set(),
    ]


def test_literal_scanner_disregards_case() -> None:
    """Candidates may be too many, never too few."""
    stream = _scanner("foo", "(?i)bar").open()
    assert set(stream.feed("FOO Bar")) == {0, 1}


def test_literal_scanner_is_blind_to_what_has_no_literal() -> None:
    """Of such a pattern it can say nothing, and says so."""
    scanner = _scanner("foo", r"\w+", r"[^a]")
    assert scanner.blind == {1, 2}
    assert scanner.lag(0) is None


def _tail(text: str, *sources: str) -> Tail:
    beginnings = Beginnings([compile_pattern(source) for source in sources])
    stream = beginnings.open()
    stream.feed(text)
    end = text[-len(stream.state.text) - 1 :]
    return beginnings.tail(stream.state, end, set(range(len(sources))))


@pytest.mark.parametrize(
    ("source", "text", "length"),
    [
        ("secret", "a se", 2),
        ("secret", "a Se", None),
        ("(?i)secret", "a Se", 2),
        (r"\bsecret", "a se", 2),
        (r"\bsecret", "ase", None),
        (r"\bsecret", "se", 2),
        ("^secret", "se", 2),
        ("^secret", " se", None),
        ("aab", "aa", 2),
        ("aab", "xa", 1),
        ("(?<!x)ababc", "xaba", 1),
        ("s[]", "s", None),
        ("secret", "a secret", None),
        ("secret", "", None),
    ],
)
def test_tail_tells_where_a_match_may_have_begun(
    source: str, text: str, length: int | None
) -> None:
    """The longest beginning of a match that the text ends with, if what precedes it allows one."""
    lengths = {} if length is None else {0: length}
    assert _tail(text, source).lengths == lengths


def test_tail_leaves_to_a_search_what_one_character_cannot_tell() -> None:
    """Patterns that look further back, or at halves of characters, are asked themselves."""
    tail = _tail("\U0001f600a", "(?<=xyz)ab", "a.", "ab")
    assert tail == Tail({2: 1}, 1, (0,))
    assert _tail("\U0001f600a", "ab.c").asked == (0,)


def test_tail_among_some_patterns_forgets_the_others() -> None:
    """Its longest length follows."""
    tail = Tail.of({1: 3, 2: 1}, (4, 5))
    assert tail.among({2, 5}) == Tail({2: 1}, 1, (5,))
    assert NO_TAIL.among({1}) == NO_TAIL


def test_beginnings_are_unknown_without_prefixes() -> None:
    """Such patterns may begin with any character."""
    assert Beginnings([compile_pattern("[^a]b"), compile_pattern("ab")]).unknown == {0}
