"""What many rule files cost: loading, reloading, memory, and how long the event loop stands still.

`python -m bench.rules [files]` prints Markdown. Beside each longest stall stands that of
an event loop that has nothing to do, measured right before for as long: what the machine adds.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import multiprocessing
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from bench.findings import Section, main, table
from proxy.workspace import WorkspaceOptions, Workspaces

FILES = 1000
TICK = 0.001
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")


def rule_file(number: int, revision: int = 0, patterns: int = 0) -> str:
    """Write a file of usual size: two patterns, three scope tokens, a paragraph of advice."""
    word = f"{WORDS[number % len(WORDS)]}{number}{'x' * patterns}"
    return (
        f"---\ndescription: About {word}\n"
        f"condition: ['\\b{word}\\s*\\(', 'new {word}_[a-z]+']\n"
        "scope: ['tool:edit(*.ts)', 'tool:write(*.ts)', text]\n---\n"
        f"Do not write {word}, revision {revision}. " + "Use what stands beside it. " * 12
    )


@dataclass
class Clock:
    """Seconds that pass when the bench says so, so that every look is one at the disk."""

    now: float = 0.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


@dataclass
class Stalls:
    """How much later than asked an event loop came back, in seconds."""

    found: list[float] = field(default_factory=list)

    @property
    def longest(self) -> float:
        """The worst of them."""
        return max(self.found, default=0.0)


async def ordinary_children() -> None:
    """Keep other processes at the usual priority: at ours, the kernel would throttle us all."""
    while True:
        for child in multiprocessing.active_children():
            if child.pid is not None:
                with contextlib.suppress(OSError):
                    os.sched_setscheduler(child.pid, os.SCHED_OTHER, os.sched_param(0))
        await asyncio.sleep(20 * TICK)


@asynccontextmanager
async def stalls() -> AsyncIterator[Stalls]:
    """Wake up every millisecond for as long as the block runs."""
    seen = Stalls()

    async def probe() -> None:
        while True:
            began = perf_counter()
            await asyncio.sleep(TICK)
            seen.found.append(perf_counter() - began - TICK)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(probe()), group.create_task(ordinary_children())]
        await asyncio.sleep(5 * TICK)
        yield seen
        await asyncio.sleep(5 * TICK)
        for task in tasks:
            task.cancel()


@dataclass(frozen=True)
class Row:
    """One line of the table; times in seconds, memory in bytes."""

    name: str
    took: float
    stall: float
    idle: float
    memory: int

    def cells(self) -> list[str]:
        """As it stands in the table."""
        return [
            self.name,
            f"{self.took:.2f} s",
            f"{self.stall * 1e3:.1f} ms",
            f"{self.idle * 1e3:.1f} ms",
            f"{self.memory / 2**20:.0f} MiB",
        ]


def resident() -> int:
    """Bytes of this process that are in memory (Linux)."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


class Bench:
    """One directory of rule files, and the workspaces that follow it."""

    def __init__(self, root: Path, files: int) -> None:
        self.folder = root / ".omp" / "rules"
        self.folder.mkdir(parents=True)
        (root / ".git").mkdir()
        self.files = files
        self.clock = Clock()
        options = WorkspaceOptions(workspace=root, home=root / "none", rules_timeout=600, poll=1)
        self.workspaces = Workspaces(options, self.clock)

    def write(self, text: Callable[[int], str], numbers: range | None = None) -> None:
        """Write some files anew, or all of them."""
        for number in numbers or range(self.files):
            (self.folder / f"rule-{number:05}.md").write_text(text(number), encoding="utf-8")

    async def look(self, name: str) -> Row:
        """Have the files looked at again, and wait until the new set is in force."""
        self.clock.now += 5
        async with stalls() as busy:
            began = perf_counter()
            before = self.sets()
            await self.workspaces.ruleset()
            while name.startswith("reload") and self.sets() == before:
                await asyncio.sleep(TICK)
                await self.workspaces.ruleset()
            took = perf_counter() - began
            await self.compiled()
            whole = perf_counter() - began
        async with stalls() as idle:
            await asyncio.sleep(whole)
        return Row(name, took, busy.longest, idle.longest, resident())

    async def compiled(self) -> None:
        """Wait for the compiled scanner, which follows on a thread of its own."""
        for _, _, rules in self.workspaces.live:
            while rules.matcher is not None and not rules.matcher.compiled:  # noqa: ASYNC110 - no event
                await asyncio.sleep(TICK)

    def sets(self) -> list[int]:
        """Tell one rule set from the next."""
        return [id(rules) for _, _, rules in self.workspaces.live]


async def rows(root: Path, files: int) -> AsyncIterator[Row]:
    """Every change that a directory of rules may go through."""
    bench = Bench(root, files)
    bench.write(rule_file)
    yield await bench.look("first load")
    yield await bench.look("look, nothing changed")
    bench.write(lambda number: rule_file(number, 1), range(7, 8))
    yield await bench.look("reload, one file edited")
    bench.write(lambda number: rule_file(number, 2))
    yield await bench.look("reload, every text edited")
    bench.write(lambda number: rule_file(number, 2, 1))
    yield await bench.look("reload, every pattern edited")
    bench.workspaces.close()


async def measured(files: int) -> Section:
    # As the server does once it has started.
    gc.collect()
    gc.freeze()
    head = ("what", "took", "longest stall", "the same, idle", "memory")
    cells = [["before", "", "", "", f"{resident() / 2**20:.0f} MiB"]]
    with tempfile.TemporaryDirectory() as place:
        cells += [row.cells() async for row in rows(Path(place), files)]
    above = f"{files} rule files, {2 * files} patterns."
    return Section("Rule files", [above, "", *table(head, cells)])


def section(files: int) -> Section:
    """Measure everything."""
    return asyncio.run(measured(files))


if __name__ == "__main__":
    main(section, FILES)
