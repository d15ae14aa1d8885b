"""Of several attempts the client reads one completion."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.quirks import PLAIN
from proxy.sse import SseReader
from proxy.wire.completions.continuation import CompletionsContinuation
from proxy.wire.completions.decoder import CompletionsDecoder
from proxy.wire.completions.request import read
from tests.support.completions import body_of, chunk, events, text_stream
from tests.support.grammar import answer, check_completion

DONE = b"data: [DONE]\n\n"


class Client:
    """Plays attempts into a continuation and keeps what the client gets."""

    def __init__(self, *, usage: bool = False) -> None:
        asked = body_of(stream=True, stream_options={"include_usage": usage})
        self.ours = CompletionsContinuation(read(asked))
        self.got = b""
        self.attempts = 0

    def attempt(self, stream: bytes, *, seam: str = "", release: int | None = None) -> bytes:
        """One attempt, of which the first `release` events are released (None: all)."""
        if self.attempts:
            self.ours.reissued(seam)
        put = self.ours.later if self.attempts else self.ours.first
        decoder, before = CompletionsDecoder(PLAIN), len(self.got)
        for number, event in enumerate(SseReader().feed(stream)):
            decoded = decoder.decode(event)
            if release is None or number < release:
                self.got += put(event, decoded)
            else:
                self.ours.unreleased(event)
        self.attempts += 1
        return self.got[before:]

    def finish(self) -> bytes:
        self.got += self.ours.finish()
        return self.got


def started(**more: Any) -> Client:
    """Make a client that has seen `Hello ` of a first attempt."""
    client = Client(**more)
    client.attempt(text_stream("Hello ", "bad"), release=1)
    return client


def datas(stream: bytes) -> list[Any]:
    lines = stream.decode().split("\n")
    return [json.loads(x[6:]) for x in lines if x.startswith("data: {")]


def test_first_attempt_goes_out_as_it_came() -> None:
    """Its own end is the end."""
    client, stream = Client(), text_stream("a", "b", usage={"total_tokens": 3})
    assert client.attempt(stream) == stream
    assert client.finish() == stream


def test_later_attempt_goes_on_with_the_same_answer() -> None:
    """Same id, created and model; the seam in front; one finish reason; unknown keys stay."""
    client = started()
    last = chunk("", finish="length", letter="b")
    last["choices"][0]["stop_reason"] = 7
    said = chunk("world", letter="b", vendor={"x": 1})
    client.attempt(
        b"".join(b"data: %s\n\n" % json.dumps(c).encode() for c in (said, last)) + DONE, seam="\n\n"
    )
    stream = client.finish()
    assert check_completion(stream, include_usage=False) == []
    assert (answer(stream).text, answer(stream).finish) == ("Hello \n\nworld", "length")
    seam, world, end = datas(stream)[1:]
    assert seam["choices"] == chunk("\n\n")["choices"]
    assert world == {**chunk("world"), "vendor": {"x": 1}}
    assert end["id"] == "cmpl-a"
    assert end["choices"][0]["stop_reason"] == 7


def test_text_beside_the_finish_reason_comes_before_it() -> None:
    """Some upstreams send both in one chunk; the reason is told once, at the end."""
    client = started()
    got = client.attempt(b"data: %s\n\n" % json.dumps(chunk("all", finish="stop")).encode())
    assert [c["choices"][0]["finish_reason"] for c in datas(got)] == [None]
    stream = client.finish()
    assert answer(stream).text == "Hello all"
    assert check_completion(stream, include_usage=False) == []


@pytest.mark.parametrize("asked", [True, False])
def test_usage_is_the_last_attempt_s_if_asked_for(*, asked: bool) -> None:
    """In front of the end mark, in a chunk of its own."""
    client = started(usage=asked)
    client.attempt(text_stream("world", usage={"total_tokens": 12}, letter="b"))
    stream = client.finish()
    assert check_completion(stream, include_usage=asked) == []
    assert answer(stream).usage == ({"total_tokens": 12} if asked else None)


def test_answer_of_which_nothing_was_shown_names_itself() -> None:
    """Without released text the later attempt is the answer."""
    client = Client()
    client.attempt(text_stream("bad"), release=0)
    client.attempt(text_stream("good", letter="b"))
    stream = client.finish()
    assert check_completion(stream, include_usage=False) == []
    assert {c["id"] for c in datas(stream)} == {"cmpl-b"}


def test_broken_attempt_gets_no_end() -> None:
    """No finish reason and no end mark is made up."""
    client = started()
    client.attempt(b"".join(events("wor", letter="b")[:1]))
    assert client.ours.broken(frozenset()) == b""
    assert client.finish() == client.got
    assert check_completion(client.got, include_usage=False, complete=False) == []
    assert not answer(client.got).done


def test_failure_of_a_later_attempt_stays_one() -> None:
    """In the shape that every client knows, with no good end behind it."""
    client = started()
    client.attempt(b'data: {"error":"busy"}\n\n' + DONE)
    stream = client.finish()
    assert [error["message"] for error in answer(stream).errors] == ["busy"]
    assert not answer(stream).done


def test_surrogate_halves_are_joined_over_events() -> None:
    """A pair cut over two chunks arrives as one character."""
    client = started()
    client.attempt(
        b'data: {"choices":[{"index":0,"text":"a\\ud83d"}]}\n\n'
        b'data: {"choices":[{"index":0,"text":"\\ude00b"}]}\n\n'
    )
    assert answer(client.got).text == "Hello a\U0001f600b"


def test_chunk_that_says_nothing_of_a_later_attempt_stays_here() -> None:
    """Comments are kept alive, pings and empty chunks dropped, keys of a vendor kept."""
    client = started()
    assert client.attempt(text_stream("", finish=None, done=False)) == b""
    assert client.attempt(b": wait\n\n") == b": keep-alive\n\n"
    assert client.attempt(b"event: ping\ndata: {}\n\n") == b""
    (kept,) = datas(client.attempt(b'data: {"choices":[],"vendor":"x"}\n\n'))
    assert (kept["id"], kept["vendor"]) == ("cmpl-a", "x")
    (kept,) = datas(client.attempt(b'data: {"choices":[{"index":0,"extra":1}]}\n\n'))
    assert kept["choices"] == [{"index": 0, "extra": 1, "text": "", "finish_reason": None}]


def test_error_of_ours_is_in_the_stream_s_format() -> None:
    """Nothing follows it."""
    client = started()
    report = datas(client.ours.error("no", "code"))
    assert report == [{"error": {"message": "no", "type": "ttsr_error", "code": "code"}}]
    assert client.ours.finish() == b""
    assert client.ours.keep_alive() == b": keep-alive\n\n"


def test_there_are_no_calls() -> None:
    """None can be cut out, and whoever would withhold one has a fault."""
    ours, decoder = CompletionsContinuation(read(body_of())), CompletionsDecoder(PLAIN)
    (event,) = SseReader().feed(b"id: 1\n" + events("a")[0])
    assert ours.first_without(event, decoder.decode(event), frozenset()) == event.raw
    assert ours.keep_alive() == b": keep-alive\n"
    with pytest.raises(RuntimeError, match="no calls"):
        ours.withheld("x")
