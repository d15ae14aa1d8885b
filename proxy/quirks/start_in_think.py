"""Servers whose template opens the think block: only its closing tag is streamed."""

from __future__ import annotations

from proxy.quirks import Profile, Quirk

QUIRK = Quirk(name="start-in-think", profile=Profile(start_in_think=True))
