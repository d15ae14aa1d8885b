from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Sequence
from dataclasses import replace

import pytest

from proxy.foundry import File, Foundry, Parsed, Reading
from rules_engine.frontmatter import parse_rule
from rules_engine.frontmatter.fields import Fields
from rules_engine.rule import Origin, Rule
from tests.support.rules import rule_text


def file(name: str, text: str = "---\ncondition: bad\n---\nDo not.") -> File:
    return File(text.encode(), name, f".omp/rules/{name}.md", "native", Origin.PROJECT, None)


def parsed(one: File) -> Parsed:
    return parse_rule(
        one.text, one.name, one.path, one.convention, origin=one.origin, adapt=one.adapt
    )


def read(reading: Reading, files: Sequence[File]) -> list[Parsed]:
    return [
        reading(
            each.text,
            each.name,
            each.path,
            each.convention,
            origin=each.origin,
            adapt=each.adapt,
        )
        for each in files
    ]


FILES = [
    file("plain"),
    file("broken", "---\ncondition: [\n---\nx"),
    file("empty", ""),
    file("all", rule_text("x", condition=["a", "b"], scope="tool:edit(*.ts)", globs="src/**")),
    file("object", "---\nastCondition: {kind: for_statement}\n---\nx"),
]


def test_few_files_are_read_at_once() -> None:
    """Nothing is left, and the same file is not parsed twice."""
    foundry = Foundry(few=len(FILES))
    reading = foundry.reading()
    first = read(reading, FILES)
    assert first == [parsed(each) for each in FILES]
    assert reading.late == []
    again = read(foundry.reading(), FILES)
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_many_files_are_read_in_another_process() -> None:
    """What is left of a reading is learned, and says the same as when it is parsed here."""
    foundry = Foundry(few=2)
    reading = foundry.reading()
    assert read(reading, FILES)[2:] == [(None, ())] * 3
    assert reading.late == FILES[2:]
    foundry.learn(reading.late)
    rest = foundry.reading()
    assert read(rest, FILES) == [parsed(each) for each in FILES]
    assert rest.late == []


def test_reading_of_all_leaves_nothing() -> None:
    """However many files are new."""
    reading = Foundry(few=0).reading(all_here=True)
    assert read(reading, FILES) == [parsed(each) for each in FILES]
    assert reading.late == []


def test_few_patterns_are_left_to_the_builder() -> None:
    """Starting a process would cost more than it saves."""
    assert Foundry(few=2).compile(["a", "b", "a"]) == {}


def test_many_patterns_are_compiled_in_another_process() -> None:
    """They search as those compiled here do; one that cannot be used is not among them."""
    foundry = Foundry(few=2)
    found = foundry.compile([r"\bany\b", "(", "bc", "😀."])
    assert list(found) == [r"\bany\b", "bc", "😀."]
    assert found["bc"].final("abbc", 0) == (2, 4)
    assert found["😀."].final("x😀y", 0) == (1, 3)
    certain = found[r"\bany\b"].certain("any thing", 0, 0)
    assert certain is not None
    assert (certain.start, certain.end, certain.decided) == (0, 3, 4)
    assert foundry.compile(["bc"])["bc"] is found["bc"]


@pytest.mark.parametrize("few", [1, 64])
def test_what_begins_alike_is_compiled_together(few: int) -> None:
    """Here where it is little, else in another process; what cannot be joined is told."""
    groups = [(r"import\s+foo", r"import\s+(a)\1", r"import\s+bar"), (r"import\s+(a)\1",)]
    together, nothing = Foundry(few).join(groups)
    assert nothing is None
    assert together is not None
    assert together.taken == (0, 2)
    assert together.pattern.hold.search("an import b")
    assert not together.pattern.hold.search("an import c")


def dying(rule: Rule, _fields: Fields) -> Rule:
    """End any process but the test's own."""
    if multiprocessing.parent_process() is not None:
        os._exit(1)
    return replace(rule, description="survived")


def test_work_is_done_here_when_the_process_dies(caplog: pytest.LogCaptureFixture) -> None:
    """A parser's crash costs time, not rules, and is told."""
    foundry = Foundry(few=0)
    with caplog.at_level(logging.WARNING, "proxy.foundry"):
        foundry.learn([replace(FILES[0], adapt=dying)])
    ((rule, _),) = read(foundry.reading(), [replace(FILES[0], adapt=dying)])
    assert rule is not None
    assert rule.description == "survived"
    assert "without another process" in caplog.text
