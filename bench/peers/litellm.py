"""LiteLLM's proxy: one worker, no database, no guardrails; it decodes and writes every event."""

from __future__ import annotations

from bench.peers import Peer, Place, not_installed, program
from bench.processes import Launch

_CONFIGURATION = """
model_list:
  - model_name: "*"
    litellm_params:
      model: "openai/*"
      api_base: {origin}/v1
      api_key: sk-bench
litellm_settings:
  drop_params: true
  telemetry: false
"""


def missing() -> str | None:
    """It has an environment of its own."""
    return not_installed("litellm", "bin/litellm")


def launch(place: Place) -> Launch:
    """Passes every model on under its own name."""
    written = place.folder / "litellm.yaml"
    written.write_text(_CONFIGURATION.format(origin=place.origin), encoding="utf-8")
    command = str(program("litellm", "litellm"))
    where = ("--host", "127.0.0.1", "--port", str(place.port), "--num_workers", "1")
    env = {
        "HOME": str(place.folder),
        "LITELLM_LOG": "ERROR",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        # Of its own accord it opens 500 connections to a host, and 1,000 streams never begin.
        "AIOHTTP_CONNECTOR_LIMIT": "8192",
        "AIOHTTP_CONNECTOR_LIMIT_PER_HOST": "8192",
        # It is only on loopback here, and a key would cost time that the others do not spend.
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
    }
    return Launch((command, "--config", str(written), *where), env)


PEER = Peer("litellm", missing, launch, ready="/health/liveliness")
