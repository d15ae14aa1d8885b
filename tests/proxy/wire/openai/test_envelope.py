"""One answer has one name, whichever attempt its chunks come from."""

from __future__ import annotations

from typing import Any

from proxy.wire.openai.envelope import Envelope

KIND = "text_completion"


def chunk(letter: str, **more: Any) -> dict[str, Any]:
    return {"id": letter, "created": ord(letter), "model": f"model-{letter}", "choices": []} | more


def fresh() -> Envelope:
    return Envelope(KIND, "made", "asked")


def test_first_name_stays() -> None:
    """What a later attempt calls itself is written over; its other keys stay."""
    who = fresh()
    who.look(chunk("a"))
    assert who.named
    assert who.stamp(chunk("b", extra=1)) == chunk("a", extra=1, object=KIND)


def test_empty_name_is_none() -> None:
    """Some upstreams open with a chunk whose id is empty."""
    who = fresh()
    who.look(chunk("a", id=""))
    assert not who.named
    assert who.stamp(chunk("b"))["id"] == "b"


def test_chunk_of_ours_is_named_by_what_is_known() -> None:
    """By what went out, else by what stayed here, else by the request."""
    who = fresh()
    assert who.begin() == {"id": "made", "object": KIND, "created": 0, "model": "asked"}
    who.miss(chunk("b", system_fingerprint="f"))
    named = chunk("b", system_fingerprint="f", object=KIND)
    del named["choices"]
    assert who.begin() == named
    who.look(chunk("a"))
    assert who.begin()["id"] == "a"


def test_it_wearies_of_upstreams_that_never_name_themselves() -> None:
    """Reading each of a thousand chunks for a name that never comes costs too much."""
    who = fresh()
    for _ in range(8):
        assert not who.weary
        who.look({})
    assert who.weary
    assert not who.named
