from __future__ import annotations

from proxy.quirks import Profile, profile_for
from proxy.quirks.inline_think import QUIRK


def test_profile_is_used_only_where_it_is_named() -> None:
    """A think block may open the content. Nothing in a host or a model shows it."""
    assert (QUIRK.hosts, QUIRK.models) == ((), ())
    assert profile_for("any.example", "any", QUIRK.name) == Profile(inline_think=True)
