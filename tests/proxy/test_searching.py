from __future__ import annotations

import os
from collections.abc import AsyncIterator

import anyio
import pytest
from anyio.abc import Process

from proxy import searching
from proxy.searching import TINY, search
from rules_engine.structures import StructureJob, job_of
from tests.support.rules import rule_text, ruleset

pytestmark = pytest.mark.anyio

SMALL = "let a = 1;\ndebugger;\n"
LARGE = "let a = 1;\n" * 60 + "debugger;\n"
HOSTILE = "a=>" * 5_000  # takes the parser of Java most of a minute, in one call of native code
FOR_EVER = 600.0


def _job(text: str, path: str = "a.ts", language: str = "typescript") -> StructureJob:
    rules = ruleset(foo=rule_text(astCondition="debugger", scope="tool")).live
    job = job_of((0, 0), "content", (path,), text, language=language, rules=rules)
    assert job is not None
    return job


@pytest.fixture
async def started(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[Process]]:
    """Keep the processes for a test; gives those that were started."""
    processes: list[Process] = []
    opened = anyio.open_process

    async def recorded(*args: object, **options: object) -> Process:
        process = await opened(*args, **options)  # type: ignore[arg-type]
        processes.append(process)
        return process

    monkeypatch.setattr(anyio, "open_process", recorded)
    async with searching.searching():
        yield processes


def _alive(process: Process) -> bool:
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("text", [SMALL, LARGE])
async def test_small_and_large_sources_give_the_same_answer(text: str) -> None:
    """Where a search runs is no part of its result."""
    (result,) = await search([_job(text)], limit=FOR_EVER)
    ((name, span),) = result.found
    assert name == "foo"
    assert text[span.start : span.end].startswith("debugger")


async def test_source_without_a_match_finds_nothing() -> None:
    """Every job is answered, in order."""
    results = await search([_job("let a = 1;"), _job("debugger;")], limit=0)
    assert [bool(result.found) for result in results] == [False, True]
    assert not any(result.unchecked for result in results)


async def test_source_that_takes_too_long_is_unchecked() -> None:
    """The limit is for all but tiny sources: what is searched at once is always searched."""
    (result,) = await search([_job(LARGE)], limit=0)
    assert result.unchecked
    assert not result.found


async def test_hostile_source_holds_up_nothing_and_its_process_is_killed(
    started: list[Process],
) -> None:
    """Whatever else the loop has to do is done while the parser is at it."""
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await anyio.sleep(0.001)
            beats += 1

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        hostile = _job(HOSTILE, "A.java", "java")
        results = await search([_job(LARGE), hostile, _job(SMALL)], limit=2)
        group.cancel_scope.cancel()
    assert [each.unchecked for each in results] == [False, True, True]
    assert beats > 20
    assert not _alive(started[0])


async def test_next_search_is_none_the_worse_for_one_that_was_killed(
    started: list[Process],
) -> None:
    """Another process is started in its place; a client that leaves ends a search likewise."""
    with anyio.move_on_after(0.2):
        await search([_job(HOSTILE, "A.java", "java")], limit=FOR_EVER)
    (result,) = await search([_job(LARGE)], limit=FOR_EVER)
    assert result.found
    assert not _alive(started[0])


async def test_searches_share_few_processes(started: list[Process]) -> None:
    """However many streams end at once."""

    async def one() -> None:
        (result,) = await search([_job(LARGE)], limit=FOR_EVER)
        assert result.found

    await searching.warm()
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(one)
    assert 1 <= len(started) <= max(2, os.cpu_count() or 2)


async def test_tiny_sources_start_no_process(started: list[Process]) -> None:
    """Many tiny ones count as what they are together."""
    text = "debugger;".ljust(TINY // 2)
    await search([_job(text), _job(text)], limit=FOR_EVER)
    assert not started
    await search([_job(text)] * 3, limit=FOR_EVER)
    assert started


@pytest.mark.usefixtures("started")
async def test_fault_of_a_search_leaves_its_text_unchecked() -> None:
    """Also where the whole process dies of it; the others are searched."""
    broken = _job(LARGE, language="typescript")
    object.__setattr__(broken.search, "language", "no such language")
    results = await search([broken, _job(LARGE)], limit=FOR_EVER)
    assert [each.unchecked for each in results] == [True, False]


async def test_where_no_process_can_be_started_texts_stay_unchecked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The proxy goes on, with processes again once there can be some."""

    async def refused(*_: object, **__: object) -> Process:
        raise BlockingIOError("no more processes")

    async with searching.searching():
        with monkeypatch.context() as patched:
            patched.setattr(anyio, "open_process", refused)
            await searching.warm()
            (result,) = await search([_job(LARGE)], limit=FOR_EVER)
            assert result.unchecked
            await anyio.wait_all_tasks_blocked()
        (result,) = await search([_job(LARGE)], limit=FOR_EVER)
        assert not result.unchecked
