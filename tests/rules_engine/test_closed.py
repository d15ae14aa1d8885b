"""Closed statements: what is found in them stays, whatever the source goes on to say."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.closed import LANGUAGES, ClosedStatements, closable
from rules_engine.triggers.structure import SourceTree, StructureTrigger, compile_structure
from tests.support.closed_trials import random_trial
from tests.support.sources import SOURCES


def closed_in(text: str, language: str) -> ClosedStatements:
    return ClosedStatements(text, SourceTree(text, language))


@given(st.sampled_from(sorted(LANGUAGES)), st.randoms(use_true_random=False))
def test_nothing_that_follows_reads_a_closed_statement_anew(language: str, rng: Random) -> None:
    """Each stands in the finished source too, with every node that is in it."""
    assert not random_trial(rng, language, [SOURCES[language]]).lost()


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_closes_statements_within_what_is_still_open(language: str) -> None:
    """Statements are closed in an open function or class too, not just between them."""
    source = SOURCES[language]
    found = set[str]()
    for line in range(1, source.count("\n") + 1):
        before = "".join(f"{each}\n" for each in source.split("\n")[:line])
        for span in closed_in(before, language).spans:
            found.add(before[span.start : span.end])
    asked = "run(" if language == "php" else "eval("
    assert sum(asked in text for text in found) > 3


@pytest.mark.parametrize(
    ("language", "text"),
    [
        pytest.param("javascript", "foo()\n// .bar()\n", id="a comment is no statement"),
        pytest.param("javascript", "if (a) {\n  b()\n}\n", id="else may follow"),
        pytest.param("python", "if a:\n    b()\n", id="elif may follow"),
        pytest.param("python", "from b import c, \\\n", id="a line that goes on"),
        pytest.param("python", "import a b\nc\n", id="an end of line that was made up"),
        pytest.param("go", "package a\nfoo bar\nbaz()\n", id="another that was made up"),
        pytest.param("c", "int x\nint y;\nint z;\n", id="a semicolon that was made up"),
        pytest.param("typescript", "const a = (;\nb()\nc()\n", id="an error before it"),
        pytest.param("javascript", 'a()\n"b\n', id="a string that is open"),
        pytest.param("javascript", "a\n/* b/c\nd()\ne()\n", id="a comment read as an expression"),
        pytest.param("c", "x = a /* b;\nc();\nd();\n", id="a comment read as two operators"),
        pytest.param("python", "print(a); del b\n", id="a line that goes on as another"),
        pytest.param("typescript", "f = a<b>\nc()\nd()\n", id="a comparison or a type"),
        pytest.param("tsx", "a\n<b>\nc;\nd()\ne()\n", id="another that may go on"),
        pytest.param("c", "x = a /*/ b;\nc();\nd();\n", id="one that only seems to be over"),
    ],
)
def test_what_is_not_certain_is_not_closed(language: str, text: str) -> None:
    """Only a statement with a whole one behind it, and no mending before that, is closed."""
    spans = closed_in(text, language).spans
    assert not [text[span.start : span.end] for span in spans]


def test_statement_with_another_behind_it_is_closed() -> None:
    """The last statement is open, and so is everything around it."""
    text = "a()\nfunction f() {\n  b()\n  c()\n"
    assert [text[s.start : s.end] for s in closed_in(text, "javascript").spans] == ["a()", "b()"]


@pytest.mark.parametrize("opening", ["[", "f(", "{\n", "if (a) {\n", "x => {\n"])
def test_source_that_is_nested_too_deep_is_left_to_the_end(opening: str) -> None:
    """Reading it through again, with all its brackets closed, would take longer than it may."""
    assert closed_in(f"a();\nb();\n{opening * 20}\n", "javascript").spans
    closed = closed_in(f"a();\nb();\n{opening * 80}\n", "javascript")
    assert not closed.spans


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("eval($X)", True),
        ('{"rule": {"kind": "call_expression", "has": {"regex": "^eval$"}}}', True),
        ('{"rule": {"pattern": "a", "inside": {"kind": "program"}}}', False),
        ('{"rule": {"any": [{"pattern": "a"}, {"all": [{"precedes": {"pattern": "b"}}]}]}}', False),
        ('{"rule": {"matches": "x"}, "utils": {"x": {"kind": "string", "nthChild": 1}}}', False),
    ],
)  # fmt: skip
def test_structure_that_looks_around_itself_waits(source: str, answer: bool) -> None:  # noqa: FBT001 - a case
    """What stands around a match may change; what stands in it does not."""
    trigger = compile_structure(source)
    assert isinstance(trigger, StructureTrigger)
    assert closable(trigger) is answer
