from __future__ import annotations

import pytest

from proxy.quirks import PLAIN, Profile, profile_for
from proxy.quirks.mistral import QUIRK


@pytest.mark.parametrize("host", ["api.mistral.ai"])
def test_host_is_recognised(host: str) -> None:
    """The upstream itself, whatever the model is called."""
    assert profile_for(host, "any") == QUIRK.profile


@pytest.mark.parametrize("model", ["mistral-large", "mistralai/devstral-medium", "magistral-small"])
def test_model_is_recognised_behind_a_gateway(model: str) -> None:
    """The same model behind somebody else's host."""
    assert profile_for("gateway.example", model) == QUIRK.profile


def test_profile_deviates_in_one_way() -> None:
    """No message carries reasoning."""
    assert QUIRK.profile == Profile(forbid_reasoning=True) != PLAIN
