from __future__ import annotations

from proxy.quirks import Profile, profile_for
from proxy.quirks.start_in_think import QUIRK


def test_profile_is_used_only_where_it_is_named() -> None:
    """The content starts inside a think block. Nothing in a host or a model shows it."""
    assert (QUIRK.hosts, QUIRK.models) == ((), ())
    assert profile_for("any.example", "any", QUIRK.name) == Profile(start_in_think=True)
