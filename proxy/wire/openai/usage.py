"""Token counts, wherever in a chunk an upstream puts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.wire.openai.chunk import JsonObject, choices


def counts(value: Mapping[str, Any], listed: Sequence[Mapping[str, Any]]) -> dict[str, int] | None:
    """Answer with the last usage object of a chunk and its choices; nested counts are dotted."""
    vendor = value.get("x_groq")
    places = [value, vendor if isinstance(vendor, dict) else {}, *listed]
    found = [place["usage"] for place in places if isinstance(place.get("usage"), dict)]
    return dict(_counts(found[-1], "")) if found else None


def taken(chunk: JsonObject) -> JsonObject | None:
    """Take the usage out of a chunk's choices; answer with a chunk that holds nothing else.

    None where the chunk has none.
    """
    vendor = chunk.get("x_groq")
    found = [chunk.get("usage"), vendor.get("usage") if isinstance(vendor, dict) else None]
    found += [choice.pop("usage", None) for choice in choices(chunk)]
    usage = next((u for u in found if isinstance(u, dict)), None)
    if usage is None:
        return None
    plain = {key: value for key, value in chunk.items() if key != "error"}
    return {**plain, "choices": [], "usage": usage}


def _counts(usage: Mapping[str, Any], prefix: str) -> list[tuple[str, int]]:
    counted: list[tuple[str, int]] = []
    for key, value in usage.items():
        if isinstance(value, dict) and not prefix:
            counted += _counts(value, f"{key}.")
        elif isinstance(value, int) and not isinstance(value, bool):
            counted.append((f"{prefix}{key}", value))
    return counted
