"""Servers that leave the think block at the beginning of the content (no reasoning parser)."""

from __future__ import annotations

from proxy.quirks import Profile, Quirk

QUIRK = Quirk(name="inline-think", profile=Profile(inline_think=True))
