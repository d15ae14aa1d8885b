"""Reads rule files and compiles their patterns; where there are many, in another process.

Both are slow and would keep the interpreter's lock from the event loop; what they give is quickly
taken over. The process ends with the work, and without it the work is done here.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import multiprocessing
import signal
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from rules_engine.bunches import join
from rules_engine.dialect import DialectError, Together, compile_holds, compile_pattern
from rules_engine.frontmatter import Adapt, parse_rule
from rules_engine.problems import Problem
from rules_engine.rule import Origin, Rule
from rules_engine.triggers.pattern import PatternTrigger

# More than the bundled rules are: below it, starting a process costs more than it saves.
FEW = 64
_BATCH = 32  # small enough that taking over its results is no stall
_MOST_KEPT = 4096

Parsed = tuple[Rule | None, tuple[Problem, ...]]

_Job = TypeVar("_Job")
_Key = TypeVar("_Key", bound=Hashable)
_Result = TypeVar("_Result")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class File:
    """One rule file's content and place, as `parse_rule` wants them."""

    text: bytes
    name: str
    path: str
    convention: str
    origin: Origin
    adapt: Adapt | None

    @property
    def key(self) -> Hashable:
        """What the result depends on."""
        digest = hashlib.sha256(self.text).digest()
        return digest, self.name, self.path, self.convention, self.origin, self.adapt


class Foundry:
    """Remembers by content what it parsed and compiled: an edit costs one file.

    Meant for one thread at a time; two at once only do some work twice.
    """

    def __init__(self, few: int = FEW) -> None:
        self._few = few
        self._parsed: dict[Hashable, Parsed] = {}
        self._triggers: dict[str, PatternTrigger | None] = {}

    def reading(self, *, all_here: bool = False) -> Reading:
        """Begin to read the files of one workspace; `all_here`: leave none, however many."""
        return Reading(None if all_here else self._few, self._parsed)

    def learn(self, files: Sequence[File]) -> None:
        """Parse files, and remember them."""
        for file, parsed in zip(files, _each(_parse, files), strict=True):
            _keep(self._parsed, file.key, parsed)
        settle()

    def compile(self, sources: Iterable[str]) -> Mapping[str, PatternTrigger]:
        """Give those of the patterns that are compiled; all usable ones where many were not."""
        wanted = tuple(dict.fromkeys(sources))
        new = [source for source in wanted if source not in self._triggers]
        if len(new) > self._few:
            for source, trigger in zip(new, _each(_compile, new), strict=True):
                _keep(self._triggers, source, trigger)
            settle()
        found = {source: self._triggers.get(source) for source in wanted}
        return {source: trigger for source, trigger in found.items() if trigger is not None}

    def join(self, groups: Sequence[tuple[str, ...]]) -> Iterator[Together | None]:
        """Compile the one pattern of each group of patterns."""
        return _each(compile_holds, groups) if sum(map(len, groups)) > self._few else join(groups)


class Reading:
    """Does what `parse_rule` does, once for the same file; `late` are files left for `learn`.

    A file that is left gives no rule and no problem. `most`: how many new ones are read here.
    """

    def __init__(self, most: int | None, parsed: dict[Hashable, Parsed]) -> None:
        self._left = most
        self._parsed = parsed
        self.late: list[File] = []

    def __call__(
        self,
        text: bytes,
        name: str,
        path: str,
        convention: str,
        *,
        origin: Origin,
        adapt: Adapt | None,
    ) -> Parsed:
        """Give what the file says."""
        file = File(text, name, path, convention, origin, adapt)
        key = file.key
        parsed = self._parsed.get(key)
        if parsed is not None:
            return parsed
        if self._left == 0:
            self.late.append(file)
            return None, ()
        if self._left is not None:
            self._left -= 1
        return _keep(self._parsed, key, _parse(file))


def settle() -> None:
    """Leave what there is now out of collections: looking through so much stops every stream.

    Rules hold no cycles, so they go as before when nobody needs them any more.
    """
    gc.freeze()


def _keep(known: dict[_Key, _Result], key: _Key, value: _Result) -> _Result:
    if len(known) >= _MOST_KEPT:
        known.clear()
    known[key] = value
    return value


def _parse(file: File) -> Parsed:
    return parse_rule(
        file.text, file.name, file.path, file.convention, origin=file.origin, adapt=file.adapt
    )


def _compile(source: str) -> PatternTrigger | None:
    try:
        return PatternTrigger(compile_pattern(source))
    except DialectError:
        return None


def _each(work: Callable[[_Job], _Result], jobs: Sequence[_Job]) -> Iterator[_Result]:
    """Do the work for each job in another process; here, as far as that is not to be had."""
    done = 0
    try:
        with _process() as process:
            for result in process.map(work, jobs, chunksize=_BATCH):
                done += 1
                yield result
    except (BrokenProcessPool, OSError, ImportError) as problem:
        _log.warning("rules are read without another process: %s", type(problem).__name__)
        yield from map(work, jobs[done:])


@contextmanager
def _process() -> Iterator[Executor]:
    # A fork would copy locks that other threads hold.
    spawning = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(1, mp_context=spawning, initializer=_undisturbed)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _undisturbed() -> None:
    """Leave an interrupt from the keyboard to the server, which ends us in its time."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
