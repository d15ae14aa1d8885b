"""Of a choice its text and its finish reason are read."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from proxy.quirks import PLAIN, Profile
from proxy.sse import SseEvent, SseReader
from proxy.wire import AttemptMessage
from proxy.wire.completions.decoder import CompletionsDecoder
from rules_engine.events import Broken, Finished, FinishReason, OpenCharacter, TextDelta
from tests.support.completions import JSON_VALUES, chunk


def events(*data: Any) -> list[SseEvent]:
    lines = (each if isinstance(each, str) else json.dumps(each) for each in data)
    return list(SseReader().feed("".join(f"data: {line}\n\n" for line in lines).encode()))


def test_stream_is_read_choice_by_choice() -> None:
    """Text, finish reason, usage and end mark; what comes behind that counts for nothing."""
    other = {"choices": [{"index": 1, "text": "b"}]}
    decoder = CompletionsDecoder(PLAIN)
    told = [
        decoder.decode(event)
        for event in events(
            chunk("a"),
            other,
            chunk("c", finish="stop", usage={"total_tokens": 3}),
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


def test_document_is_one_long_event() -> None:
    """An answer without choices is a failure."""
    decoder = CompletionsDecoder(PLAIN)
    read = decoder.document(json.dumps(chunk("all", finish="length")).encode())
    assert read.events == (TextDelta(0, "all"), FinishReason(0, "length"))
    assert not read.error
    assert CompletionsDecoder(PLAIN).document(b'{"error":{"message":"no"}}').error


def test_halves_of_a_character_are_joined() -> None:
    """A half that nothing follows is told at the end, as U+FFFD."""
    decoder = CompletionsDecoder(PLAIN)
    told = [
        decoder.decode(event).events for event in events(chunk("x\ud83d"), chunk("\ude00\ud83d"))
    ]
    assert told == [
        (TextDelta(0, "x"), OpenCharacter(0)),
        (TextDelta(0, "\U0001f600"), OpenCharacter(0)),
    ]
    assert decoder.close(broken=True) == (TextDelta(0, "\ufffd"), Broken())


def test_repeated_text_is_read_once_where_the_upstream_repeats_it() -> None:
    """A profile says that each piece holds all that was said before."""
    decoder = CompletionsDecoder(Profile(cumulative=True))
    told = [decoder.decode(event).events for event in events(chunk("a"), chunk("ab"))]
    assert told == [(TextDelta(0, "a"),), (TextDelta(0, "b"),)]


@given(JSON_VALUES)
def test_no_json_makes_it_raise(value: Any) -> None:
    """Upstreams send anything."""
    decoder = CompletionsDecoder(PLAIN)
    odd = {"choices": [{"text": value, "index": value, "finish_reason": value}]}
    for data in (value, odd, {"choices": value, "usage": value, "error": value}):
        raw = json.dumps(data)
        for event in events(raw):
            decoder.decode(event)
        CompletionsDecoder(PLAIN).document(raw.encode())
    decoder.close(broken=False)
