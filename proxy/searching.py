"""Runs searches for structures: tiny ones at once, all others in other processes, with a limit.

A parser may take a minute for some thousand characters that were made for it, and cannot be
interrupted, so nothing else would run meanwhile, and only the end of its process ends it.
"""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import anyio
from anyio.abc import Process, TaskGroup
from anyio.lowlevel import RunVar
from anyio.streams.buffered import BufferedByteReceiveStream

from proxy.searcher import LENGTH, Answer, message
from rules_engine.structures import StructureJob, StructureResult, StructureSearch

log = logging.getLogger(__name__)

# Characters of all texts that are searched on the event loop: the worst that is known takes the
# parser 4 to 9 ms then.
TINY = 256
# Two at least: one source that is hard to parse must not keep all others waiting.
_MOST = max(2, os.cpu_count() or 2)
# Without the current directory, which may be a project that has a module of the same name.
_COMMAND = (sys.executable, "-P", "-m", "proxy.searcher")


class _Searcher:
    """One such process."""

    def __init__(self, process: Process) -> None:
        assert process.stdout is not None
        self._process = process
        self._answers = BufferedByteReceiveStream(process.stdout)

    @classmethod
    async def start(cls) -> _Searcher:
        """Start one; it is not waited for."""
        with anyio.CancelScope(shield=True):  # a process that is started must be known
            process = await anyio.open_process(
                _COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return cls(process)

    async def run(self, search: StructureSearch) -> Answer:
        """Ask, and wait for the answer."""
        assert self._process.stdin is not None
        await self._process.stdin.send(message(search))
        length = int.from_bytes(await self._answers.receive_exactly(LENGTH), "big")
        answer: Answer = pickle.loads(await self._answers.receive_exactly(length))  # noqa: S301 - our child wrote it
        return answer

    async def end(self) -> None:
        """Kill it, whatever it does."""
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.aclose()


class _Pool:
    """The processes of one event loop: at most `_MOST`, each with one search at a time.

    `ended`: nothing is kept for a next search any more.
    """

    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._idle: list[_Searcher] = []
        self._slots = anyio.Semaphore(_MOST)
        self.ended = False

    async def warm(self) -> None:
        """See that one is ready for the next search, where one can be started."""
        async with self._slots:
            if self._idle:
                return
            try:
                self._idle.append(await _Searcher.start())
            except OSError as problem:
                _warn(type(problem).__name__)

    async def run(self, search: StructureSearch) -> Answer:
        """Run a search once a process is free. One that fails or is cancelled ends its process."""
        async with self._slots:
            searcher = self._idle.pop() if self._idle else await _Searcher.start()
            try:
                answer = await searcher.run(search)
            except BaseException:
                await searcher.end()
                if not self.ended:
                    self._group.start_soon(self.warm)
                raise
            self._idle.append(searcher)
        if self.ended:
            await self.end()
        return answer

    async def end(self) -> None:
        """End those that wait for work; each of the others is ended when it is done."""
        while self._idle:
            await self._idle.pop().end()


_pool: RunVar[_Pool] = RunVar("_searching_pool")


@asynccontextmanager
async def searching() -> AsyncIterator[None]:
    """Keep the processes, once they are started, until this is left."""
    async with AsyncExitStack() as stack:
        group = anyio.create_task_group()
        pool = _Pool(group)
        stack.push_async_callback(pool.end)  # behind the group, which may just be starting one
        await stack.enter_async_context(group)
        token = _pool.set(pool)
        try:
            yield
        finally:
            _pool.reset(token)
            pool.ended = True
            group.cancel_scope.cancel()


async def warm() -> None:
    """Start a process ahead of the first search that wants it."""
    pool = _pool.get(None)
    if pool is not None and not pool.ended:
        await pool.warm()


async def search(jobs: Sequence[StructureJob], limit: float) -> tuple[StructureResult, ...]:
    """What the jobs find, in their order; a job that fails or takes too long stays unchecked.

    `limit`: seconds for all of them, where they are not tiny.
    """
    if sum(len(job.search.text) for job in jobs) <= TINY:
        return tuple(_run(job) for job in jobs)
    pool = _pool.get(None)
    if pool is not None and not pool.ended:
        return await _search(jobs, limit, pool)
    async with searching():
        return await _search(jobs, limit, _pool.get())


async def _search(
    jobs: Sequence[StructureJob], limit: float, pool: _Pool
) -> tuple[StructureResult, ...]:
    results = [StructureResult(job, unchecked=True) for job in jobs]
    with anyio.move_on_after(limit):
        for number, job in enumerate(jobs):
            try:
                answer: Answer = await pool.run(job.search)
            except Exception as problem:  # noqa: BLE001 - a process that dies leaves one text unchecked
                answer = type(problem).__name__
            if isinstance(answer, str):
                _warn(answer)
            else:
                results[number] = StructureResult(job, answer)
    return tuple(results)


def _run(job: StructureJob) -> StructureResult:
    try:
        return StructureResult(job, job.search.run())
    except Exception as problem:  # noqa: BLE001 - a parser's fault leaves one text unchecked
        _warn(type(problem).__name__)
        return StructureResult(job, unchecked=True)


def _warn(fault: str) -> None:
    log.warning("a search for structures failed: %s", fault)
