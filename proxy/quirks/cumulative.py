"""Servers whose text pieces repeat all of the text so far."""

from __future__ import annotations

from proxy.quirks import Profile, Quirk

QUIRK = Quirk(name="cumulative", profile=Profile(cumulative=True))
