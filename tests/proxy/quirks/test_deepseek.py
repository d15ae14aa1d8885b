from __future__ import annotations

import pytest

from proxy.quirks import PLAIN, Profile, profile_for
from proxy.quirks.deepseek import QUIRK


@pytest.mark.parametrize("host", ["api.deepseek.com", "DEEPSEEK.com."])
def test_host_is_recognised(host: str) -> None:
    """The upstream itself, whatever the model is called."""
    assert profile_for(host, "any") == QUIRK.profile


@pytest.mark.parametrize("model", ["deepseek-chat", "deepseek/deepseek-v4", "DeepSeek-R2"])
def test_model_is_recognised_behind_a_gateway(model: str) -> None:
    """The same model behind somebody else's host."""
    assert profile_for("gateway.example", model) == QUIRK.profile


def test_profile_deviates_in_one_way() -> None:
    """Reasoning goes back with the calls that it led to."""
    assert QUIRK.profile == Profile(replay_reasoning=True) != PLAIN
