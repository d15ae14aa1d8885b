from __future__ import annotations

import pytest

from proxy.searching import search
from rules_engine.structures import StructureJob, job_of
from tests.support.rules import rule_text, ruleset

pytestmark = pytest.mark.anyio


def _job(text: str) -> StructureJob:
    rules = ruleset(foo=rule_text(astCondition="debugger", scope="tool")).live
    job = job_of((0, 0), "content", ("a.ts",), text, language="typescript", rules=rules)
    assert job is not None
    return job


async def test_small_and_large_sources_give_the_same_answer() -> None:
    """Where a search runs is no part of its result."""
    small = "let a = 1;\ndebugger;\n"
    large = "let a = 1;\n" * 6000 + "debugger;\n"
    for text in (small, large):
        (result,) = await search([_job(text)], limit=60)
        ((name, span),) = result.found
        assert name == "foo"
        assert text[span.start : span.end].startswith("debugger")


async def test_source_without_a_match_finds_nothing() -> None:
    """Every job is answered, in order."""
    results = await search([_job("let a = 1;"), _job("debugger;")], limit=0)
    assert [bool(result.found) for result in results] == [False, True]
    assert not any(result.unchecked for result in results)


async def test_source_that_takes_too_long_is_unchecked() -> None:
    """The limit is for large sources alone: what is searched at once is always searched."""
    (result,) = await search([_job("let a = 1;\n" * 6000 + "debugger;\n")], limit=0)
    assert result.unchecked
    assert not result.found
