"""forge (forge-guardrails): checks tool calls and asks again, on answers that it reads whole."""

from __future__ import annotations

from bench.peers import Peer, Place, not_installed, program
from bench.processes import Launch

_NAME = "forge"


def missing() -> str | None:
    """It has an environment of its own, with Python 3.12 or newer."""
    return not_installed(_NAME, "lib/python*/site-packages/forge")


def launch(place: Place) -> Launch:
    """As it comes, in front of any OpenAI-compatible API."""
    backend = ("--backend", "openai", "--backend-url", f"{place.origin}/v1")
    where = ("--host", "127.0.0.1", "--port", str(place.port))
    argv = (str(program(_NAME, "python")), "-m", "forge.proxy", *backend, *where)
    return Launch(argv, {"HOME": str(place.folder)})


PEER = Peer(
    _NAME,
    missing,
    launch,
    remark="it asks the upstream for whole answers, whatever the client asked for",
)
