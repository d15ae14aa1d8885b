"""Token counts are found wherever upstreams put them."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.wire.openai.usage import counts, taken

USAGE = {"total_tokens": 3, "details": {"cached": 2, "deep": {"x": 1}}, "speed": 1.5, "ok": True}


@pytest.mark.parametrize(
    "chunk",
    [
        {"usage": USAGE, "choices": []},
        {"x_groq": {"usage": USAGE}},
        {"choices": [{"usage": USAGE}], "usage": None},
    ],
)
def test_usage_is_found(chunk: dict[str, Any]) -> None:
    """At the top, in a vendor's key, in a choice; nested counts have dotted names."""
    choices = chunk.get("choices") or []
    assert counts(chunk, choices) == {"total_tokens": 3, "details.cached": 2}
    alone = taken(chunk)
    assert alone is not None
    assert (alone["usage"], alone["choices"]) == (USAGE, [])
    assert not any("usage" in choice for choice in choices)


@pytest.mark.parametrize("usage", [None, 3, []])
def test_what_is_no_object_is_no_usage(usage: Any) -> None:
    """Most chunks say null."""
    assert counts({"usage": usage}, []) is None
    assert taken({"usage": usage}) is None


def test_chunk_of_usage_says_nothing_of_an_error() -> None:
    """It goes out at the good end of an answer."""
    assert taken({"usage": USAGE, "error": "e", "id": "a"}) == {
        "id": "a",
        "usage": USAGE,
        "choices": [],
    }
