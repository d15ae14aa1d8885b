"""An answer of choices is read the same way, whatever a choice looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.sse import SseReader
from proxy.wire import AttemptMessage, Decoded
from proxy.wire.openai.decoder import AnswerDecoder
from rules_engine.events import Broken, Finished, TextDelta, TurnEvent


class Word:
    """A choice that says `say` and keeps a word for its end."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.said = ""

    def read(self, raw: Mapping[str, Any]) -> list[TurnEvent]:
        self.said += raw["say"]
        return [TextDelta(self.index, raw["say"])]

    def close(self) -> list[TurnEvent]:
        return [TextDelta(self.index, "end")]

    def message(self) -> AttemptMessage:
        return AttemptMessage(self.said, "", (), (), b"{}")


def decoded(decoder: AnswerDecoder[Word], *lines: str) -> list[Decoded]:
    stream = "".join(f"{line}\n\n" for line in lines).encode()
    return [decoder.decode(event) for event in SseReader().feed(stream)]


def test_choices_are_told_apart_by_their_number() -> None:
    """A missing number is 0; a choice alone may stand without its list."""
    decoder = AnswerDecoder(Word)
    first, second = decoded(
        decoder,
        'data: {"choices":[{"index":1,"say":"a"},{"say":"b"},3]}',
        'data: {"choices":{"index":1,"say":"c"}}',
    )
    assert first.events == (TextDelta(1, "a"), TextDelta(0, "b"))
    assert second.events == (TextDelta(1, "c"),)
    assert [decoder.message(n).text for n in (0, 1, 2)] == ["b", "ac", ""]
    ends = (TextDelta(0, "end"), TextDelta(1, "end"))
    assert decoder.close(broken=True) == (*ends, Broken())
    assert decoder.close(broken=False) == ()
    assert decoded(decoder, 'data: {"choices":[{"say":"late"}]}') == [Decoded()]


def test_nothing_behind_the_end_mark_counts() -> None:
    """Comments, pings and empty events say nothing either."""
    decoder = AnswerDecoder(Word)
    *silent, done, late = decoded(
        decoder,
        ": comment",
        "event: ping\ndata: {}",
        "data: ",
        "data: [DONE]",
        'data: {"choices":[{"say":"late"}]}',
    )
    assert all(each == Decoded() for each in silent)
    assert done.done
    assert late == Decoded()
    assert decoder.close(broken=False) == (Finished(),)


def test_failures_are_known_in_every_shape() -> None:
    """By the event's name, at the top, in a list, in a choice, by the object's name."""
    failures = decoded(
        AnswerDecoder(Word),
        'event: error\ndata: {"message":"busy"}',
        'data: {"error":"busy"}',
        'data: [{"error":"busy"}]',
        'data: {"choices":[{"say":"","error":"busy"}]}',
        'data: {"object":"error"}',
    )
    assert all(each.error for each in failures)
    assert decoded(AnswerDecoder(Word), "data: no JSON") == [Decoded(malformed=True)]


def test_document_is_one_event() -> None:
    """An answer without choices, and an error in a list, are failures."""
    read = AnswerDecoder(Word).document(b'\xef\xbb\xbf {"choices":[{"say":"a"}],"usage":{"n":1}}')
    assert (read.events, read.usage, read.error) == ((TextDelta(0, "a"),), {"n": 1}, False)
    assert AnswerDecoder(Word).document(b'[{"error":{}}]').error
    assert AnswerDecoder(Word).document(b"<html>").malformed
