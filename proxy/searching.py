"""Runs searches for structures: small ones at once, large ones in another process, with a limit."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import anyio
from anyio import to_process

from rules_engine.structures import StructureJob, StructureResult

log = logging.getLogger(__name__)

_SMALL = 48 * 1024  # characters of all texts that are searched on the event loop


async def search(jobs: Sequence[StructureJob], limit: float) -> tuple[StructureResult, ...]:
    """What the jobs find, in their order; a job that fails or takes too long stays unchecked.

    `limit`: seconds for all of them, where they are large.
    """
    if sum(len(job.search.text) for job in jobs) <= _SMALL:
        return tuple(_run(job) for job in jobs)
    results = [StructureResult(job, unchecked=True) for job in jobs]
    with anyio.move_on_after(limit):
        for number, job in enumerate(jobs):
            try:
                found = await to_process.run_sync(job.search.run, cancellable=True)
            except Exception as problem:  # noqa: BLE001 - a parser's fault leaves one text unchecked
                log.warning("a search for structures failed: %s", type(problem).__name__)
                continue
            results[number] = StructureResult(job, found)
    return tuple(results)


def _run(job: StructureJob) -> StructureResult:
    try:
        return StructureResult(job, job.search.run())
    except Exception as problem:  # noqa: BLE001 - a parser's fault leaves one text unchecked
        log.warning("a search for structures failed: %s", type(problem).__name__)
        return StructureResult(job, unchecked=True)
