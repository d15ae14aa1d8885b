"""What the proxy has open, seen from outside."""

from __future__ import annotations

import os
import signal
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.processes import Running

_PATIENCE = 20.0
_WINDOW = 30.0  # seconds whose median stands for the memory at a time


@dataclass(frozen=True, slots=True)
class State:
    """`sockets`: connected ones. `files`: all descriptors. `tasks`: of the event loop, by name."""

    resident: int
    sockets: int
    files: int
    tasks: Counter[str]

    def text(self) -> str:
        """In a line."""
        memory = self.resident / 2**20
        tasks = self.tasks.total()
        return f"{memory:.0f} MiB, {self.sockets} sockets, {self.files} files, {tasks} tasks"


def state(server: Running, tasks: Path) -> State:
    """Look at the proxy; `tasks` is where it writes them."""
    tasks.unlink(missing_ok=True)
    os.kill(server.pid, signal.SIGUSR1)
    end = time.monotonic() + _PATIENCE
    while not tasks.exists():
        if time.monotonic() > end:
            raise TimeoutError(f"the proxy did not tell its tasks: {server.ending()}")
        time.sleep(0.05)
    process = psutil.Process(server.pid)
    sockets = [each for each in process.net_connections() if each.status != psutil.CONN_LISTEN]
    names = Counter(tasks.read_text(encoding="utf-8").split("\n")[:-1])
    return State(server.resident(), len(sockets), process.num_fds(), names)


@dataclass(slots=True)
class Memory:
    """Bytes of memory over time."""

    seen: list[tuple[float, int]] = field(default_factory=list)

    def add(self, seconds: float, resident: int) -> None:
        """One more look."""
        self.seen.append((seconds, resident))

    def at(self, seconds: float) -> float:
        """The median of what was seen shortly before."""
        near = [size for when, size in self.seen if seconds - _WINDOW <= when <= seconds]
        return statistics.median(near or [self.seen[-1][1]])
