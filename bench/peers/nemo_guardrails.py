"""NVIDIA NeMo Guardrails' server, with no rails but its streaming: what its way through costs."""

from __future__ import annotations

from bench.peers import Peer, Place, not_installed, program
from bench.processes import Launch

_NAME = "nemo-guardrails"
_COMMAND = "nemoguardrails"
_CONFIGURATION = """
models:
  - type: main
    engine: openai
    model: bench
    parameters:
      base_url: {origin}/v1
      api_key: sk-bench
streaming: true
"""


def missing() -> str | None:
    """It has an environment of its own."""
    return not_installed(_NAME, f"bin/{_COMMAND}")


def launch(place: Place) -> Launch:
    """One configuration, which is the default."""
    below = place.folder / "configs" / "bench"
    below.mkdir(parents=True)
    text = _CONFIGURATION.format(origin=place.origin)
    (below / "config.yml").write_text(text, encoding="utf-8")
    where = ("--port", str(place.port), "--config", str(place.folder / "configs"))
    more = ("--default-config-id", "bench", "--disable-chat-ui")
    env = {
        "HOME": str(place.folder),
        "OPENAI_API_KEY": "sk-bench",
        "OPENAI_BASE_URL": f"{place.origin}/v1",
        "NEMO_GUARDRAILS_DISABLE_TELEMETRY": "1",
    }
    return Launch((str(program(_NAME, _COMMAND)), "server", *where, *more), env)


# It takes minutes to begin ten times as many.
PEER = Peer(_NAME, missing, launch, idle_streams=100)
