"""The soak itself: a proxy, an upstream, and clients until the time is over."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench import under_rules
from bench.findings import Finding, Section, at_most, table
from bench.peers import Place
from bench.processes import (
    Cores,
    Launch,
    Running,
    first_line,
    free_port,
    on_core,
    running,
    wait_until_it_answers,
)
from bench.soak.client import Played, play, state
from bench.soak.script import Kind, Script, drawn, rules
from bench.soak.served import FILE
from bench.soak.watch import Memory, State
from bench.soak.watch import state as watched

# Connections to the upstream are kept for half a minute; the next request then drops them.
_IDLE_SECONDS = 31.0
_LOOK_SECONDS = 5.0
_FIRST_LOOK = 300.0  # memory at the end is compared with that of minute 5
# What the last one came to, for the report of `make bench`.
OUTCOME = Path(__file__).parents[1] / "soak.json"
_MOST_FAULTS = 50  # that are shown; what is wrong often is wrong in the same way
_TOOLS = """tools:
  write:
    family: write
    paths: [path]
    source: [content]
"""


@dataclass(frozen=True, slots=True)
class Options:
    """For how many seconds, how many streams at a time, and which ones."""

    seconds: float
    streams: int
    seed: int
    idle: float = _IDLE_SECONDS

    @property
    def first_look(self) -> float:
        """When memory is looked at first: minute 5, or half of the time."""
        return min(_FIRST_LOOK, self.seconds / 2)


@dataclass(slots=True)
class Tally:
    """What was played. `suspects`: streams that were not as they must be under rules."""

    played: Counter[Kind] = field(default_factory=Counter)
    suspects: list[Played] = field(default_factory=list)

    def add(self, played: Played) -> None:
        """Count one, and keep it if it is suspect."""
        self.played[played.script.kind] += 1
        if played.fault(unguarded=False) is not None:
            self.suspects.append(played)


@dataclass(slots=True)
class Soak:
    """Plays everything once, then at random, and looks at the proxy before and after."""

    options: Options
    folder: Path
    say: Callable[[str], None]
    tally: Tally = field(default_factory=Tally)
    memory: Memory = field(default_factory=Memory)
    violation: str = field(default_factory=under_rules.violation)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def section(self) -> Section:
        """Run it; answers what is to be reported."""
        with self.running() as (upstream, place, server):
            async with asyncio.TaskGroup() as group:
                for kind in Kind:
                    script = Script(kind, next(self.numbers), self.violation)
                    group.create_task(self._play(place.port, script))
            before = await self._settled(place, server)
            self.say(f"before: {before.text()}")
            await self._load(place, server)
            after = await self._settled(place, server)
            self.say(f"after: {after.text()}")
            left = (await state(upstream))["open"]
        return self._section(place, before, after, left)

    @contextmanager
    def running(self) -> Iterator[tuple[int, Place, Running]]:
        """Start the upstream, and the proxy in front of it."""
        cores = Cores.of_machine()
        argv = (sys.executable, "-m", "bench.soak.upstream", self.violation)
        with first_line(argv, cores.load) as port, on_core(cores.load):
            place = Place(self.folder / "proxy", free_port(), int(port))
            place.folder.mkdir()
            with running(_launch(place), cores.proxy, place.folder, "ttsr") as server:
                wait_until_it_answers(server, place.port, "/readyz")
                yield place.upstream, place, server

    async def _play(self, port: int, script: Script) -> None:
        self.tally.add(await play(port, script))

    async def _settled(self, place: Place, server: Running) -> State:
        """Wait until what is kept for a while is gone, and look."""
        await asyncio.sleep(self.options.idle)
        await self._play(place.port, Script(Kind.PLAIN, next(self.numbers), self.violation))
        # The last answer is recorded behind its end.
        await asyncio.sleep(min(1.0, self.options.idle))
        return watched(server, place.folder / "tasks")

    async def _load(self, place: Place, server: Running) -> None:
        began = time.monotonic()
        end = began + self.options.seconds
        rng = Random(self.options.seed)

        async def client() -> None:
            while time.monotonic() < end:
                await self._play(place.port, drawn(rng, next(self.numbers), self.violation))

        async with asyncio.TaskGroup() as group:
            clients = [group.create_task(client()) for _ in range(self.options.streams)]
            watching = group.create_task(self._watch(began, server))
            await asyncio.wait(clients)
            watching.cancel()

    async def _watch(self, began: float, server: Running) -> None:
        """Look at the memory, and say something once a minute."""
        told = 0
        while True:
            await asyncio.sleep(min(_LOOK_SECONDS, self.options.seconds / 10))
            seconds = time.monotonic() - began
            self.memory.add(seconds, server.resident())
            if seconds // 60 > told:
                told = int(seconds // 60)
                self.say(f"minute {told}: {self._progress()}")

    def _progress(self) -> str:
        """Suspects are judged at the end, when the audit says whether the ledger was there."""
        memory = self.memory.seen[-1][1] / 2**20
        streams = self.tally.played.total()
        return f"{streams} streams, {len(self.tally.suspects)} suspect, {memory:.0f} MiB"

    def _section(self, place: Place, before: State, after: State, left: int) -> Section:
        faults = list(self._faults(place))
        first = self.memory.at(self.options.first_look)
        last = self.memory.at(self.memory.seen[-1][0])
        findings = [
            at_most("18", f"memory at the end against {self._first_look()}", 1.05, last / first),
            _equal("sockets", before.sockets, after.sockets),
            _equal("open files", before.files, after.files),
            _equal("tasks of the event loop", before.tasks.total(), after.tasks.total()),
            _equal("open connections at the upstream", before.sockets, left - 1),
            _equal("streams that are not what they must be", 0, len(faults)),
        ]
        return Section(
            "What came of it", self._lines(before, after), findings, faults[:_MOST_FAULTS]
        )

    def _first_look(self) -> str:
        return f"minute {self.options.first_look / 60:.3g}"

    def _faults(self, place: Place) -> Iterator[str]:
        with closing(sqlite3.connect(place.folder / "ttsr.db")) as database:
            rows = database.execute("SELECT DISTINCT model FROM turn WHERE unledgered")
            unledgered = {row[0].removesuffix("-next") for row in rows}
        for played in self.tally.suspects:
            fault = played.fault(unguarded=played.script.model in unledgered)
            if fault is not None:
                yield f"{played.script.model}: {fault}"

    def _lines(self, before: State, after: State) -> list[str]:
        total = self.tally.played.total()
        minutes = self.options.seconds / 60
        rows = [[kind.name.lower(), str(self.tally.played[kind])] for kind in Kind]
        when = time.strftime("%Y-%m-%d %H:%M")
        lines = [
            f"{total} streams in {minutes:g} minutes, {self.options.streams} at a time; {when}.",
            "",
        ]
        lines += table(("stream", "how many"), rows)
        lines += ["", f"Before: {before.text()}. After: {after.text()}."]
        more = after.tasks - before.tasks
        return lines + [f"- a task more: {name}" for name in more.elements()]


def _equal(what: str, before: int, after: int) -> Finding:
    return Finding("18", what, f"{before}", f"{after}", before == after)


def _launch(place: Place) -> Launch:
    """The proxy, with the rules of the bench and those of the scripts."""
    arguments = under_rules.SAFE.prepared(place, _TOOLS)
    for name, text in rules().items():
        (under_rules.rules_folder(place.folder) / f"{name}.md").write_text(text, encoding="utf-8")
    argv = (sys.executable, "-m", "bench.soak.served", *arguments)
    return Launch(argv, {"HOME": str(place.folder), FILE: str(place.folder / "tasks")})
