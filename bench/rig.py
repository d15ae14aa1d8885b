"""The rig: the upstream and the load client on one core, each proxy alone on another."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from bench import under_rules
from bench.native import Programs
from bench.peers import Peer, Place
from bench.processes import (
    Cores,
    Running,
    first_line,
    free_port,
    on_core,
    running,
    wait_until_it_answers,
)


@dataclass(frozen=True, slots=True)
class Load:
    """What the load client does, in its own words; see bench/native/load.c."""

    at_once: int = 20
    streams: int = 0
    seconds: int = 0
    events: int = 10
    delay: int = 0
    violate: int = 0
    place: int = 0
    limit: int = 120

    def arguments(self) -> list[str]:
        """Every option by its name."""
        names = ("at_once", "streams", "seconds", "events", "delay", "violate", "place", "limit")
        return [f"{name}={getattr(self, name)}" for name in names]

    def text(self) -> str:
        """What of it is more than nothing."""
        return " ".join(each for each in self.arguments() if not each.endswith("=0"))


@dataclass(frozen=True, slots=True)
class Result:
    """What the load client measured; times in microseconds, `wall` in seconds.

    `cpu`: seconds that the proxy computed meanwhile.
    """

    wall: float
    streams: int
    events: int
    errors: int
    incomplete: int
    timed_out: int
    latency_us_p50: float
    latency_us_p99: float
    first_us_p50: float
    first_us_p99: float
    jitter_us_p50: float
    jitter_us_p99: float
    lag_p50: float
    lag_p99: float
    held_p50: float
    held_p99: float
    cpu: float = 0.0

    def fault(self) -> str | None:
        """Why the figures stand for nothing, or nothing."""
        if self.timed_out:
            return f"not done in time: {self.streams} streams, {self.events} events"
        if self.errors or self.incomplete or not self.events:
            return f"of {self.streams} streams {self.errors} failed, {self.incomplete} incomplete"
        return None


class FaultyRunError(Exception):
    """A proxy lost events or refused streams: what was measured is no figure of it."""


@dataclass(frozen=True, slots=True)
class Closes:
    """From violations to the end of the connection, as the upstream saw it."""

    count: int
    p50_us: float
    p99_us: float
    second_attempts: int


@dataclass(frozen=True, slots=True)
class Target:
    """What load is sent to: a proxy that runs, or the upstream itself."""

    peer: Peer | None
    port: int
    server: Running | None

    @property
    def name(self) -> str:
        """As in the tables."""
        return self.peer.name if self.peer else "direct"

    @property
    def path(self) -> str:
        """Where it takes chat completions."""
        return self.peer.path if self.peer else "/v1/chat/completions"

    def cpu_seconds(self) -> float:
        """Processor time of the proxy so far."""
        return self.server.cpu_seconds() if self.server else 0.0

    def has_ended(self) -> bool:
        """Whether there is no such process any more."""
        return self.server is not None and self.server.process.poll() is not None


@dataclass(frozen=True, slots=True)
class Rig:
    """An upstream that runs, and the client to load it with, straight or through a proxy."""

    programs: Programs
    cores: Cores
    folder: Path
    upstream: int

    def direct(self) -> Target:
        """No proxy at all."""
        return Target(None, self.upstream, None)

    @contextmanager
    def proxy(self, peer: Peer) -> Iterator[Target]:
        """Start a proxy in a folder of its own; raises NotStartedError."""
        name = peer.name.replace(" ", "-").replace(",", "")
        place = Place(self.folder / f"{name}-{free_port()}", free_port(), self.upstream)
        place.folder.mkdir()
        with running(peer.launch(place), self.cores.proxy, place.folder, name) as server:
            wait_until_it_answers(server, place.port, peer.ready)
            yield Target(peer, place.port, server)

    def run(self, target: Target, load: Load) -> Result:
        """Load it; raises FaultyRunError where anything went wrong, for then figures lie."""
        before = target.cpu_seconds()
        told = self.warm_up(target, load)
        result = replace(told, cpu=target.cpu_seconds() - before)
        if target.has_ended():
            raise FaultyRunError(f"{load.text()}: the proxy ended meanwhile")
        if (fault := result.fault()) is not None:
            raise FaultyRunError(f"{load.text()}: {fault}")
        return result

    def warm_up(self, target: Target, load: Load) -> Result:
        """Load it, whatever comes of it; raises FaultyRunError where nothing does."""
        with self.loading(target, load) as client:
            output, _ = client.communicate()
        if client.returncode:
            raise FaultyRunError(f"{load.text()}: the load client ended with {client.returncode}")
        return Result(**json.loads(output.rstrip().rpartition("\n")[2]))

    @contextmanager
    def loading(self, target: Target, load: Load) -> Iterator[subprocess.Popen[str]]:
        """Run the client; the block may look at the proxy meanwhile."""
        where = (f"port={target.port}", f"path={target.path}")
        with on_core(self.cores.load):
            client = subprocess.Popen(  # noqa: S603 - our own program
                (str(self.programs.load), *where, *load.arguments()),
                stdout=subprocess.PIPE,
                text=True,
            )
        try:
            yield client
        finally:
            client.kill()
            client.wait()
            assert client.stdout is not None
            client.stdout.close()

    def closes(self) -> Closes:
        """What became of the violations since this was asked last."""
        connection = HTTPConnection("127.0.0.1", self.upstream, timeout=10)
        connection.request("GET", "/closes")
        told: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return Closes(**told)


@contextmanager
def rig(programs: Programs, folder: Path) -> Iterator[Rig]:
    """Start the upstream; it ends with the block."""
    deltas = folder / "deltas.tsv"
    under_rules.write_deltas(deltas)
    cores = Cores.of_machine()
    argv = (str(programs.upstream), str(deltas), under_rules.MARK)
    with first_line(argv, cores.load) as port:
        yield Rig(programs, cores, folder, int(port))
