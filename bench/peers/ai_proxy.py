"""AI_Proxy (guscatalano-ai-proxy): rules on requests and answers, a web page, SQLite."""

from __future__ import annotations

from bench.peers import Peer, Place, not_installed, program
from bench.processes import Launch

_NAME = "ai-proxy"


def missing() -> str | None:
    """It has an environment of its own."""
    return not_installed(_NAME, f"bin/{_NAME}")


def launch(place: Place) -> Launch:
    """As it comes: its default is to send chat completions to what it takes for Ollama."""
    env = {
        "HOME": str(place.folder),
        "PROXY_STATE_DIR": str(place.folder),
        "PROXY_HOST": "127.0.0.1",
        "PROXY_PORT": str(place.port),
        "OLLAMA_URL": place.origin,
    }
    return Launch((str(program(_NAME, _NAME)),), env)


PEER = Peer(
    _NAME,
    missing,
    launch,
    remark="it reads on for clients that have left, and serves nobody else meanwhile",
    idle_streams=0,
)
