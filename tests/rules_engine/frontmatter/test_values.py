from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.frontmatter.values import Entry, YamlError, load


def plain(text: str) -> object:
    entries = load(f"a: {text}")
    assert entries is not None
    return entries["a"].value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("0o17", 15),
        ("0x1f", 31),
        ("1.5e3", 1500.0),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ("1" * 30, float("1" * 30)),
        ("1" * 50, "1" * 50),
        ("<<", "<<"),
        ("[1, {b: no}]", [1, {"b": "no"}]),
        ("|\n  x\n  y\n", "x\ny\n"),
    ],
)
def test_load_reads_the_core_schema(text: str, value: object) -> None:
    """`no` and `1:30` are strings; there are no dates and no merges."""
    assert plain(text) == value


def test_load_gives_lines_of_keys() -> None:
    """Lines count from 0 in the block."""
    assert load("\na: 1\n\nb:\n  - x\n") == {"a": Entry(1, 1), "b": Entry(["x"], 3)}


@pytest.mark.parametrize(("text", "value"), [("", {}), ("# c", {}), ("~", {}), ("- a", None)])
def test_load_knows_what_is_no_mapping(text: str, value: object) -> None:
    """Nothing is an empty mapping; a list or a scalar is none."""
    assert load(text) == value


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: *x", 0),
        ("a: &x [1]\nb: *x", 1),
        ("a: !!python/name:os x", 0),
        ("? [a]\n: 1", 0),
        ("a: " + "[" * 40 + "]" * 40, 0),
        ('a: "\\d"', 0),
        ('a: "\\ud800"', 0),
        ("a: 1\n--- \nb: 2", 2),
        ("a: [", 0),
        ("\0", 0),
        ("a: 'x", 0),
        ('a: "\\U7fffffff"', 0),
    ],
)
def test_load_refuses(text: str, line: int) -> None:
    """Aliases, foreign tags, deep nesting and broken text are faults, never values."""
    with pytest.raises(YamlError) as raised:
        load(text)
    assert raised.value.reason
    assert raised.value.line <= line + 1


def test_load_names_a_duplicate_key() -> None:
    """A key that stands twice, at any depth, is a fault that names it."""
    for text in ("a: 1\na: 2", "b:\n  a: 1\n  a: 2"):
        with pytest.raises(YamlError) as raised:
            load(text)
        assert raised.value.duplicate == "a"


@given(st.text(alphabet="ab:-?|>[]{}&*!%@#,'\"\\ \n\t\x00é~0.", max_size=40))
def test_load_raises_its_own_error_only(text: str) -> None:
    """Any text is values or a YamlError."""
    try:
        load(text)
    except YamlError:
        return


def test_load_refuses_many_open_brackets_before_the_parser_sees_them() -> None:
    """The parser's time would grow with their square; brackets that are closed do not count."""
    for opening in ("[", "{a: ", "[a, "):
        with pytest.raises(YamlError) as raised:
            load(f"a: x\nb: {opening * 1000}")
        assert (raised.value.reason, raised.value.line) == ("nested too deeply", 1)
    entries = load(f"a: '{'[' * 60}'\nb: [{'[], ' * 500}]")
    assert entries is not None
    assert len(entries["b"].value) == 500
