"""Processes that are measured: started on one core, and asked for their processor time."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import psutil

_START_SECONDS = 120
_STOP_SECONDS = 15
# Linux's number for the processor time of another process, threads that ended included.
_PROCESS_CLOCK = 2


class NotStartedError(Exception):
    """A process ended or did not answer; the message has the end of what it said."""


@dataclass(frozen=True, slots=True)
class Cores:
    """Which core the load and the upstream run on, and which one the proxy under test."""

    load: int
    proxy: int

    @classmethod
    def of_machine(cls) -> Cores:
        """The first two that this process may use; with only one, all share it."""
        usable = sorted(os.sched_getaffinity(0))
        return cls(usable[0], usable[1] if len(usable) > 1 else usable[0])


@dataclass(frozen=True, slots=True)
class Launch:
    """What is started: the command, and what is added to the environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Running:
    """A process that runs, with all that it started itself."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        """Of the process that was started."""
        return self.process.pid

    def cpu_seconds(self) -> float:
        """Processor time of the process and of those below it, so far."""
        return sum(_cpu_seconds(each.pid) for each in self._all())

    def resident(self) -> int:
        """Bytes of memory of the process and of those below it."""
        sizes = []
        for each in self._all():
            with contextlib.suppress(psutil.Error):
                sizes.append(each.memory_info().rss)
        return sum(sizes)

    def _all(self) -> list[psutil.Process]:
        try:
            root = psutil.Process(self.pid)
            return [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def ending(self) -> str:
        """The last that the process said."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-2000:].strip()


def _cpu_seconds(pid: int) -> float:
    try:
        return time.clock_gettime((~pid << 3) | _PROCESS_CLOCK)
    except OSError:
        return 0.0


def end_in_order() -> None:
    """Let a termination be an exit, so that what was started is ended too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def free_port() -> int:
    """A port of loopback that nothing listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """What is started inside runs on one core, with all that it starts."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def running(launch: Launch, core: int, folder: Path, name: str) -> Iterator[Running]:
    """Run a process until the block ends; what it says goes to a file in `folder`."""
    log = folder / f"{name}.log"
    with log.open("wb") as output, on_core(core):
        process = subprocess.Popen(  # noqa: S603 - commands of this package
            launch.argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | dict(launch.env),
            cwd=folder,
            start_new_session=True,
        )
    try:
        yield Running(process, log)
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask, then insist, of the whole group: some leave workers behind."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until_it_answers(
    server: Running, port: int, path: str, seconds: float = _START_SECONDS
) -> None:
    """Ask until the answer is no server's fault; raises NotStartedError."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.process.poll() is not None:
            raise NotStartedError(f"ended with {server.process.returncode}: {server.ending()}")
        if _answers(port, path):
            return
        time.sleep(0.1)
    raise NotStartedError(f"did not answer within {seconds:.0f} s: {server.ending()}")


def _answers(port: int, path: str) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < 500
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def first_line(argv: Sequence[str], core: int) -> Iterator[str]:
    """Run a program that says on its first line where it can be found."""
    with on_core(core):
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own
    assert process.stdout is not None
    with process.stdout:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
            process.wait()
