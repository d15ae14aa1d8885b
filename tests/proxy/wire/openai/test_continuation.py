"""What every API of the family does alike with later attempts, shown on an API of words."""

from __future__ import annotations

import json
from typing import Any

from proxy.sse import SseEvent, SseReader
from proxy.wire import Decoded
from proxy.wire.openai.chunk import JsonObject
from proxy.wire.openai.continuation import AnswerContinuation
from proxy.wire.openai.envelope import Envelope
from proxy.wire.openai.shown import Shown
from rules_engine.events import FinishReason, TextDelta
from tests.support.attempts import request


class Words(AnswerContinuation):
    """A choice says `word`, and nothing is kept for the end."""

    def __init__(self) -> None:
        super().__init__(request(include_usage=True), Shown(Envelope("words", "made", "m")))

    def first(self, event: SseEvent, decoded: Decoded) -> bytes:
        self._out.passed(event.raw, has_id=event.has_id)
        self._shown.hear(decoded)
        return event.raw

    def _prose(
        self, choice: JsonObject, _envelope: JsonObject, decoded: Decoded
    ) -> JsonObject | None:
        for event in decoded.events:
            if isinstance(event, FinishReason):
                self._attempt.reason = event.reason
        return {"word": choice["word"]} if choice.get("word") else None

    def _saying(self, text: str) -> JsonObject:
        return {"word": text}

    def _finishing(self, _around: JsonObject, reason: str) -> JsonObject:
        return {"end": reason}


def event(**chunk: Any) -> SseEvent:
    (made,) = SseReader().feed(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    return made


def said(out: bytes) -> list[Any]:
    found = [
        json.loads(line[6:]) for line in out.decode().split("\n") if line.startswith("data: {")
    ]
    return [chunk.get("choices", chunk) for chunk in found]


def test_seam_goes_in_front_of_the_first_text_alone() -> None:
    """A chunk without text does not ask for it."""
    ours = Words()
    ours.reissued("--")
    assert said(ours.later(event(choices=[], vendor=1), Decoded())) == [[]]
    text = Decoded((TextDelta(0, "a"),))
    both = said(ours.later(event(choices=[{"word": "a"}]), text))
    assert both == [[{"word": "--"}], [{"word": "a"}]]
    assert said(ours.later(event(choices=[{"word": "b"}]), text)) == [[{"word": "b"}]]


def test_end_is_one_reason_the_usage_and_the_mark() -> None:
    """Once; nothing is finished where nothing was reissued."""
    ours = Words()
    assert ours.finish() == b""
    ours.reissued("")
    usage = event(choices=[], usage={"n": 1})
    assert ours.later(usage, Decoded()) == b""
    assert ours.later(event(choices=[{}]), Decoded((FinishReason(0, "stop"),))) == b""
    out = ours.finish()
    assert said(out) == [[{"end": "stop"}], []]
    assert b'"usage":{"n":1}' in out
    assert out.endswith(b"data: [DONE]\n\n")
    assert ours.finish() == b""


def test_nothing_is_ended_that_the_upstream_did_not_end() -> None:
    """Without a finish reason there is no mark, unless it was read."""
    ours = Words()
    ours.reissued("")
    assert ours.finish() == b""
    ours = Words()
    ours.reissued("")
    assert ours.later(event(), Decoded(done=True)) == b""
    assert ours.later(event(choices=[{"word": "late"}]), Decoded()) == b""
    assert ours.finish() == b"data: [DONE]\n\n"


def test_failure_is_said_once_and_ends_without_a_mark() -> None:
    """What the same event says goes in front of it."""
    ours = Words()
    ours.reissued("")
    failed = Decoded((TextDelta(0, "a"),), error=True)
    out = ours.later(event(choices=[{"word": "a"}], error={"message": "busy"}), failed)
    first, error = said(out)
    assert (first, error["error"]["message"]) == ([{"word": "a"}], "busy")
    assert ours.finish() == b""
    assert ours.error("no", "c") == Words().error("no", "c")


def test_held_event_names_the_answer() -> None:
    """What stays here of the first attempt says who would have answered."""
    ours = Words()
    ours.unreleased(event(id="a", model="x", created=1))
    ours.reissued("--")
    out = ours.later(event(choices=[{"word": "w"}]), Decoded((TextDelta(0, "w"),)))
    assert json.loads(out.split(b"\n")[0][6:])["id"] == "a"
