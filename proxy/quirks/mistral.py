"""Mistral: refuses messages that carry reasoning."""

from __future__ import annotations

from proxy.quirks import Profile, Quirk

QUIRK = Quirk(
    name="mistral",
    profile=Profile(forbid_reasoning=True),
    hosts=("mistral.ai",),
    models=(r"\b(?:mistral|magistral|ministral|codestral|devstral)\b",),
)
