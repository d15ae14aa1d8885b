from __future__ import annotations

from proxy.quirks import Profile, profile_for
from proxy.quirks.cumulative import QUIRK


def test_profile_is_used_only_where_it_is_named() -> None:
    """Text pieces repeat everything so far. Nothing in a host or a model shows it."""
    assert (QUIRK.hosts, QUIRK.models) == ((), ())
    assert profile_for("any.example", "any", QUIRK.name) == Profile(cumulative=True)
