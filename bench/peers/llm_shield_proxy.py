"""llm-shield-proxy: replaces personal data in streams, over a sliding window."""

from __future__ import annotations

from bench.peers import Peer, Place, not_installed, program
from bench.processes import Launch

_NAME = "llm-shield-proxy"


def missing() -> str | None:
    """It has an environment of its own."""
    return not_installed(_NAME, f"bin/{_NAME}")


def launch(place: Place) -> Launch:
    """As it comes, with the key that the load client sends."""
    where = ("--host", "127.0.0.1", "--port", str(place.port), "--log-level", "error")
    env = {
        "HOME": str(place.folder),
        "UPSTREAM_BASE_URL": place.origin,
        "UPSTREAM_API_KEY": "unused",
        "VALID_VIRTUAL_KEYS": "sk-bench",
    }
    return Launch((str(program(_NAME, _NAME)), *where), env)


# It takes minutes to begin ten times as many.
PEER = Peer(_NAME, missing, launch, idle_streams=100)
