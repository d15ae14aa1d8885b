from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.frontmatter.recovery import recover


def values(text: str) -> dict[str, object]:
    return {key: entry.value for key, entry in recover(text).items()}


@pytest.mark.case(20)
def test_recover_takes_a_badly_escaped_pattern_as_written() -> None:
    r"""A double-quoted `\d` loses its quotes and nothing else."""
    assert values('condition: "\\d+\\s"\nb: true') == {"condition": "\\d+\\s", "b": True}


@pytest.mark.case(21)
def test_recover_reads_two_quoted_words() -> None:
    """`"text","thinking"` is a list of two."""
    assert values('scope: "text","thinking"') == {"scope": ["text", "thinking"]}


@pytest.mark.case(23)
def test_recover_joins_an_open_bracket() -> None:
    """A bracket left open is read up to where it closes."""
    assert values('a: "\\d"\nb: [x,\ny,\n  z]\nc: 1') == {
        "a": "\\d",
        "b": ["x", "y", "z"],
        "c": 1,
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("globs: *.ts", "*.ts"),
        ("globs: **/*.{ts,tsx}", "**/*.{ts,tsx}"),
        ("globs: *.ts,*.tsx", ["*.ts", "*.tsx"]),
        ("globs: [*.ts, *.tsx]", ["*.ts", "*.tsx"]),
        ("condition: [\"\\d\", 'x']", ["\\d", "x"]),
        ("condition: [Tt]odo: x", "[Tt]odo: x"),
        ("description: Use this: that", "Use this: that"),
        ("condition:\n  - \"\\d\"\n  - 'x'", ["\\d", "x"]),
        ("condition:\n- '\\d'\n- b", ["\\d", "b"]),
        ("a: |\n  x: *y\n  z", "x: *y\nz"),
        ('a: >\n\tx "\\d', 'x "\\d'),
        ("a: |\n      x\n  y", "x\ny"),
        ("a: {b: 1}", {"b": 1}),
        ("a: [b", "[b"),
        ("a: it's", "it's"),
        ("a:", None),
    ],
)
def test_recover_one_value(text: str, found: object) -> None:
    """A value that YAML refuses is a list where it plainly is one, else its text."""
    assert list(values(text).values()) == [found]


def test_recover_keeps_sound_neighbours_whole() -> None:
    """One bad value costs no other key its lines."""
    assert values('condition: "\\d"\nglobs:\n  - a.ts\n  - b.ts\n') == {
        "condition": "\\d",
        "globs": ["a.ts", "b.ts"],
    }


def test_recover_takes_the_last_of_two() -> None:
    """Of a key that stands twice, the last value counts."""
    assert values("a: 1\na: 2") == {"a": 2}


def test_recover_ignores_rows_of_no_key() -> None:
    """Stray text between keys is dropped."""
    assert values("stray\na: 1\nstray: \nmore stray\nb: 2") == {"a": 1, "stray": None, "b": 2}


@given(st.text(alphabet="ab:-|>[]{}*,'\"\\ \n\t", max_size=60))
def test_recover_never_raises(text: str) -> None:
    """Any text gives some keys."""
    assert isinstance(recover(text), dict)
