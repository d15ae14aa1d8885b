from __future__ import annotations

import pytest

from rules_engine.frontmatter.fields import Fields, camel
from rules_engine.frontmatter.values import Entry
from rules_engine.problems import Code
from rules_engine.rule import InterruptMode


def fields(**values: object) -> Fields:
    entries = {key: Entry(value, row) for row, (key, value) in enumerate(values.items())}
    return Fields(entries, "r.md", 2)


def codes(read: Fields) -> list[Code]:
    return [problem.code for problem in read.problems]


def test_fields_know_keys_in_kebab_case() -> None:
    """`interrupt-mode` is `interruptMode`; underscores stay."""
    read = Fields({"interrupt-mode": Entry("never", 0)}, "r.md", 2)
    assert read.choice("interruptMode", InterruptMode, Code.BAD_VALUE) is InterruptMode.NEVER
    assert camel("ttsr_trigger") == "ttsr_trigger"


def test_fields_report_a_likely_misspelling_alone() -> None:
    """A key near a known one is a problem with a hint; any other key is the author's own."""
    assert codes(fields(condtion="x")) == [Code.UNKNOWN_KEY]
    assert fields(condtion="x").problems[0].allowed == "did you mean condition?"
    assert codes(fields(title="x", tags=[1])) == []


@pytest.mark.parametrize(
    ("value", "text", "faults"),
    [
        (" a ", " a ", []),
        ("  ", None, []),
        (None, None, []),
        (3, None, [Code.WRONG_TYPE]),
        (["a"], None, [Code.WRONG_TYPE]),
    ],
)
def test_fields_text(value: object, text: str | None, faults: list[Code]) -> None:
    """Only strings are text; blank ones count as missing."""
    read = fields(description=value)
    assert (read.text("description"), codes(read)) == (text, faults)


@pytest.mark.parametrize(
    ("value", "flag", "faults"),
    [
        (True, True, []),
        (False, False, []),
        (None, True, []),
        ("false", True, [Code.BAD_VALUE]),
        (0, True, [Code.BAD_VALUE]),
    ],
)
def test_fields_flag(value: object, *, flag: bool, faults: list[Code]) -> None:
    """Only YAML booleans switch anything."""
    read = fields(enabled=value)
    assert (read.flag("enabled", default=True), codes(read)) == (flag, faults)


@pytest.mark.parametrize(
    ("value", "count", "faults"),
    [
        (5, 5, []),
        (None, None, []),
        (0, None, [Code.BAD_VALUE]),
        (True, None, [Code.BAD_VALUE]),
        ("5", None, [Code.BAD_VALUE]),
    ],
)
def test_fields_count(value: object, count: int | None, faults: list[Code]) -> None:
    """A count is a whole number from 1."""
    read = fields(repeatGap=value)
    assert (read.count("repeatGap"), codes(read)) == (count, faults)


def test_fields_strings_drop_what_is_none() -> None:
    """Items that are no strings are dropped and reported, with the field's line."""
    read = fields(name="n", globs=["a", 3, None])
    assert read.strings("globs") == ("a",)
    assert [(problem.code, problem.line) for problem in read.problems] == [
        (Code.WRONG_TYPE, 3),
        (Code.WRONG_TYPE, 3),
    ]
    assert fields(globs={"a": 1}).strings("globs") is None
