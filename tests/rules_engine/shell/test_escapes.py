from __future__ import annotations

import pytest

from rules_engine.shell.escapes import ansi_escape, character_of, echoed, printed, unescaped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\\nx", ("\n", 2)),
        ("\\'", ("'", 2)),
        ("\\x41b", ("A", 4)),
        ("\\x4g", ("\x04", 3)),
        ("\\101", ("A", 4)),
        ("\\0x", ("\0", 2)),
        ("\\u00e9", ("\u00e9", 6)),
        ("\\U0001f600", ("\U0001f600", 10)),
        ("\\ud800x", ("\ufffd", 6)),
        ("\\q", ("\\", 1)),
        ("\\", None),
        ("\\x", None),
        ("\\x4", None),
        ("\\u12", None),
        ("\\10", None),
    ],
)
def test_escape_is_read_once_it_is_whole(text: str, expected: tuple[str, int] | None) -> None:
    """What further digits could change waits for them."""
    assert ansi_escape(text, final=False) == expected


def test_escape_at_the_end_is_what_there_is_of_it() -> None:
    """Nothing more comes."""
    assert ansi_escape("\\x4", final=True) == ("\x04", 3)
    assert ansi_escape("\\x", final=True) == ("\\", 1)


def test_numbers_that_are_no_character_are_replaced() -> None:
    """Halves of a pair, and what is beyond the last one."""
    assert [character_of(n) for n in (65, 0xD800, 0x110000)] == ["A", "\ufffd", "\ufffd"]


def test_escapes_of_echo_and_printf_are_undone() -> None:
    """Unknown ones stay."""
    assert unescaped("a\\tb\\101\\0101\\x41\\u00e9\\\\n\\q") == "a\tbAAA\u00e9\\n\\q"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "\n"),
        (["a", "b c"], "a b c\n"),
        (["-n", "a"], "a"),
        (["-e", "a\\tb"], "a\tb\n"),
        (["-ne", "a\\tb"], "a\tb"),
        (["-e", "-E", "a\\tb"], "a\\tb\n"),
        (["-x", "a"], "-x a\n"),
    ],
)
def test_echo_prints_its_words(arguments: list[str], text: str) -> None:
    """Options count only in front."""
    assert echoed(arguments) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], ""),
        (["a\\n"], "a\n"),
        (["--", "a"], "a"),
        (["-v", "x", "a"], ""),
        (["%s-%d%%\\n", "a\\n", "3"], "a\\n-3%\n"),
        (["%b", "a\\n"], "a\n"),
        (["%-5s|", "a"], "a|"),
        (["%s\\n", "a", "b"], "a\nb\n"),
        (["%s %s\\n", "a"], "a \n"),
        (["x", "a", "b"], "x"),
    ],
)
def test_printf_uses_its_format_again(arguments: list[str], text: str) -> None:
    """As often as there are arguments for it; widths are not filled."""
    assert printed(arguments) == text


def test_printf_stays_in_proportion() -> None:
    """A long format for many arguments is not written out for each."""
    text = printed(["x" * 3_000 + "%s", *("a",) * 3_000])
    assert len(text) < 50_000
    assert text.count("a") == 3_000
