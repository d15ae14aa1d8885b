"""Plain completions: read so that rules can observe them, and never changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.quirks import PLAIN
from proxy.sse import SseEvent, SseReader
from proxy.views import Insert
from proxy.wire import AttemptMessage, Watching
from proxy.wire.completions import WIRE_API
from rules_engine.events import Broken, Finished, FinishReason, TextDelta

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def body(**fields: Any) -> bytes:
    return json.dumps({"model": "m", "prompt": "say"} | fields).encode()


def events(*data: Any) -> list[SseEvent]:
    lines = (each if isinstance(each, str) else json.dumps(each) for each in data)
    return list(SseReader().feed("".join(f"data: {line}\n\n" for line in lines).encode()))


def chunk(text: Any, *, index: int = 0, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "text": text, "finish_reason": finish}], **more}


@pytest.mark.parametrize(
    ("prompt", "text"),
    [("say", "say"), (["a", "b"], "a\nb"), ([1, 2], ""), ([[1], [2]], ""), (None, "")],
)
def test_prompt_is_what_the_user_says(prompt: Any, text: str) -> None:
    """Tokens have no text."""
    asked = WIRE_API.read(body(prompt=prompt))
    assert [(each.role, each.text) for each in asked.messages] == [("user", text)]


def test_rules_only_observe() -> None:
    """What the request says of its answer is read, and its bytes are what is sent."""
    sent = body(stream=True, n=3, stream_options={"include_usage": True}, suffix="")
    asked = WIRE_API.read(sent)
    assert (asked.model, asked.stream, asked.choices, asked.include_usage) == ("m", True, 3, True)
    assert asked.watching is Watching.OBSERVING
    assert WIRE_API.spliced(asked, ()) == sent
    with pytest.raises(RuntimeError):
        WIRE_API.spliced(asked, (Insert(0, ()),))


@pytest.mark.parametrize("sent", [body(suffix="tail"), b"no json", b"[]", b"\xff", b""])
def test_what_fills_a_gap_or_cannot_be_read_is_not_watched(sent: bytes) -> None:
    """It is for the upstream to refuse."""
    asked = WIRE_API.read(sent)
    assert (asked.watching, asked.body) == (Watching.NOT, sent)


def test_stream_is_read_choice_by_choice() -> None:
    """Text, finish reason, usage and end mark; what comes behind that counts for nothing."""
    decoder = WIRE_API.decoder(PLAIN)
    told = [
        decoder.decode(event)
        for event in events(
            chunk("a"),
            chunk("b", index=1),
            chunk("c", finish="stop", usage={"total_tokens": 3, "details": {}}),
            "[DONE]",
            chunk("late"),
        )
    ]
    assert [each.events for each in told] == [
        (TextDelta(0, "a"),),
        (TextDelta(1, "b"),),
        (TextDelta(0, "c"), FinishReason(0, "stop")),
        (),
        (),
    ]
    assert told[2].usage == {"total_tokens": 3}
    assert told[3].done
    assert decoder.message(0) == AttemptMessage("ac", "", (), (), b"{}")
    assert decoder.message(7).text == ""
    assert decoder.close(broken=False) == (Finished(),)
    assert decoder.close(broken=False) == ()


def test_document_is_one_long_event() -> None:
    """An answer without choices is a failure."""
    decoder = WIRE_API.decoder(PLAIN)
    read = decoder.document(json.dumps(chunk("all", finish="length")).encode())
    assert read.events == (TextDelta(0, "all"), FinishReason(0, "length"))
    assert not read.error
    assert WIRE_API.decoder(PLAIN).document(b'{"error":{"message":"no"}}').error
    assert WIRE_API.decoder(PLAIN).document(b"<html>").malformed


def test_halves_of_a_character_are_joined() -> None:
    """A half that nothing follows is told at the end, as U+FFFD."""
    decoder = WIRE_API.decoder(PLAIN)
    told = [
        decoder.decode(event).events for event in events(chunk("x\ud83d"), chunk("\ude00\ud83d"))
    ]
    assert told == [(TextDelta(0, "x"),), (TextDelta(0, "\U0001f600"),)]
    assert decoder.close(broken=True) == (TextDelta(0, "\ufffd"), Broken())


@given(JSON_VALUES)
def test_no_json_makes_it_raise(value: Any) -> None:
    """Upstreams send anything; requests may hold anything."""
    raw = json.dumps(value)
    WIRE_API.read(raw.encode())
    decoder = WIRE_API.decoder(PLAIN)
    for data in (raw, json.dumps({"choices": value, "usage": value, "error": value})):
        for event in events(data):
            decoder.decode(event)
        WIRE_API.decoder(PLAIN).document(data.encode())
    decoder.close(broken=False)


def test_client_gets_the_upstream_s_bytes() -> None:
    """Nothing is added but an error event of ours, and comments while it waits."""
    ours = WIRE_API.continuation(WIRE_API.read(body()))
    decoder = WIRE_API.decoder(PLAIN)
    for event in events(chunk("a"), "[DONE]"):
        decoded = decoder.decode(event)
        assert ours.first(event, decoded) == event.raw
        assert ours.first_without(event, decoded, frozenset()) == event.raw
        ours.unreleased(event)
    assert (ours.finish(), ours.broken(frozenset())) == (b"", b"")
    assert ours.keep_alive() == b": keep-alive\n\n"
    (named,) = SseReader().feed(b"id: 1\ndata: {}\n\n")
    ours.first(named, decoder.decode(named))
    assert ours.keep_alive() == b": keep-alive\n"
    report = json.loads(ours.error("no", "code").removeprefix(b"data: "))
    assert report["error"] == {"message": "no", "type": "ttsr_error", "code": "code"}
    assert json.loads(WIRE_API.error_body("no", "kind", "code"))["error"]["type"] == "kind"


def test_nothing_of_ours_can_be_placed() -> None:
    """Whoever asks for it has a fault, which is told as one."""
    asked = WIRE_API.read(body())
    ours, message = WIRE_API.continuation(asked), AttemptMessage("", "", (), (), b"{}")
    (event,) = events(chunk("a"))
    decoded = WIRE_API.decoder(PLAIN).decode(event)
    for place in (
        lambda: WIRE_API.user("x"),
        lambda: WIRE_API.system("x"),
        lambda: WIRE_API.partial("x"),
        lambda: WIRE_API.refused(message, (), PLAIN),
        lambda: WIRE_API.document("x", asked),
        lambda: ours.reissued(""),
        lambda: ours.later(event, decoded),
        lambda: ours.withheld("x"),
    ):
        with pytest.raises(RuntimeError, match="only observe"):
            place()
