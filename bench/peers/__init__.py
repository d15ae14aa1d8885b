"""Proxies that are measured beside ours: one file a peer, which defines `PEER`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.processes import Launch

ENVIRONMENTS = Path(__file__).parents[2] / ".bench-venv"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a proxy runs: a folder of its own, the port to listen on, the upstream's port."""

    folder: Path
    port: int
    upstream: int

    @property
    def origin(self) -> str:
        """The upstream, without a path."""
        return f"http://127.0.0.1:{self.upstream}"


@dataclass(frozen=True, slots=True)
class Peer:
    """A proxy that can be measured.

    `name`: how it is called in the table and by `PEERS`. `missing`: says why it cannot run here,
    or nothing. `launch`: writes what it needs into the folder, and names the command. `path`:
    where it takes chat completions. `ready`: a path that answers once it could serve. `remark`:
    why it may be expected to fail under the load. `idle_streams`: of how many its memory is taken.
    """

    name: str
    missing: Callable[[], str | None]
    launch: Callable[[Place], Launch]
    path: str = "/v1/chat/completions"
    ready: str = "/"
    remark: str = ""
    idle_streams: int = 1000


def collected() -> tuple[Peer, ...]:
    """Every peer, by the names of their files."""
    return tuple(_peers())


def _peers() -> Iterator[Peer]:
    for module in pkgutil.iter_modules(__path__):
        peer = importlib.import_module(f"{__name__}.{module.name}").PEER
        assert isinstance(peer, Peer), module.name
        yield peer


def nothing_missing() -> None:
    """Answer for peers that need nothing but this environment."""


def program(environment: str, command: str) -> Path:
    """A command of an environment of its own, which `make bench PEERS=…` makes."""
    return ENVIRONMENTS / environment / "bin" / command


def not_installed(environment: str, sign: str) -> str | None:
    """Why it cannot run here, or nothing where a file is there that `sign` matches."""
    if any((ENVIRONMENTS / environment).glob(sign)):
        return None
    log = ENVIRONMENTS / f"{environment}.log"
    if not log.exists():
        return f"not installed: say `make bench PEERS={environment}`"
    said = [line for line in log.read_text(encoding="utf-8").split("\n") if line.strip()]
    errors = [line for line in said if line.startswith("ERROR")]
    return f"not installable here: {(errors or said or ['no reason told'])[0][:300]}"
