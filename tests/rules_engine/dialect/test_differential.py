"""The dialect against a JavaScript engine. `differential.py` says how to run it for longer."""

from __future__ import annotations

import pytest

from tests.rules_engine.dialect.differential import TEXTS, Case, compare, main, make_cases
from tests.rules_engine.dialect.node import ask_node

_PAIRS = 24_000


def test_random_patterns_match_as_in_javascript() -> None:
    """The same patterns are accepted, and the first match has the same span on every text."""
    assert list(compare(make_cases(20_250_601, _PAIRS // TEXTS))) == []


@pytest.mark.parametrize(
    ("source", "flags", "texts"),
    [
        ("(?:|a)+", "", ("a", "aa", "b")),
        ("(?:a?)*?b", "", ("aab", "b")),
        ("(?:(a)|b)*\\1", "", ("ab", "aba", "abaa")),
        ("(?:(?=(a))|b)*\\1c", "", ("bc", "ac")),
        ("(?<=(\\d+)(\\d+))$", "", ("1053",)),
        ("(?<=\\1(a))b", "", ("aab", "ab")),
        ("(z)((a+)?(b+)?(c))*", "", ("zaacbbbcac",)),
        ("(?:(?<y>\\d{4})-|(?<y>\\d{2})/)\\k<y>", "", ("2024-2024", "24/24", "24/2024")),
        ("\\u{61}\\p{L}[\\p{L}]", "", ("u" * 61 + "p{L}}", "apL")),
        ("[^\\n]|[^a]", "", ("\n", "a")),
        ("(?:[^a-c]|[^b])x", "", ("ax", "bx")),
        ("[^]x[]|y$", "", ("ax", "y\n", "y")),
        ("^.$", "", ("\U0001f600", "\ud83d", "\u2028")),
        ("^[^x]{2}$", "s", ("\U0001f600", "ab")),
        ("[\U0001f600]", "", ("\U0001f601", "\ud83d")),
        ("k\\b.\u017f", "i", ("K \u017f", "\u212a \u017f", "K S")),
        ("(é)\\1", "i", ("éÉ", "Éé")),
        ("(?-i:a)b(?m-s:.^)c", "is", ("ab\nc", "aB\nC", "Ab\nC")),
        ("\\0\\07\\8\\c\\cA[\\c_]", "", ("\x00\x078\\c\x01\x1f",)),
    ],
)
def test_traps_are_as_in_javascript(source: str, flags: str, texts: tuple[str, ...]) -> None:
    """Each place where engines are known to differ."""
    assert list(compare([Case(source, flags, texts)])) == []
    assert not isinstance(ask_node([(source, flags, list(texts))])[0], str)


def test_compare_tells_a_difference() -> None:
    """A case that the dialect has limited, and JavaScript has not, is told."""
    found = list(compare([Case("a{0,70000}", "", ("a",))]))
    assert [(case.source, case.theirs) for case in found] == [("a{0,70000}", "accepted")]


def test_compare_knows_the_one_fault_of_the_other_engine() -> None:
    """The exemption is still needed, and the dialect does what the standard says."""
    assert ask_node([("(?i:x|[a-c])", "", ["B"]), ("(?:x|[a-c])", "i", ["B"])]) == [
        [None],
        [[0, 1]],
    ]
    assert list(compare([Case("(?i:x|[a-c])", "", ("B",)), Case("(?:x|[a-c])", "i", ("B",))])) == []


def test_main_counts_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    """The long run says how much was compared."""
    assert main(["--pairs", "1", "--seed", "3"]) == 0
    assert "0 disagreements" in capsys.readouterr().out
