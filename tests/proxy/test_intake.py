from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.intake import Events, Intake, tells
from proxy.quirks import PLAIN
from proxy.sse import EventTooLarge, SseReader
from proxy.wire.chat.decoder import ChatDecoder
from rules_engine.events import TextDelta, TurnEvent
from tests.support.attempts import DONE, USAGE, chunk, tool, wire
from tests.support.chunks import at_offsets

LIMIT = 4000


def text(piece: str, **more: object) -> bytes:
    return wire(chunk({"content": piece}, **more))


def events_of(reader: Intake, data: bytes) -> Events:
    return reader.events(data, reader.parts(data))


def begun(limit: int = LIMIT) -> Intake:
    """One whose stream has begun."""
    reader = Intake(ChatDecoder(PLAIN), limit)
    events = events_of(reader, wire(chunk({"role": "assistant", "content": ""})))
    events.look()
    events.event()
    assert events.over
    return reader


def drained(events: Events, room: int = 1 << 20) -> tuple[bytes, list[TurnEvent]]:
    """Take all, in runs where there are some."""
    raw, told = b"", list[TurnEvent]()
    while not events.over:
        run = events.run(room)
        if run is None:
            event, decoded = events.look()
            told += decoded.events
            assert events.event() is event
            raw += event.raw
        else:
            assert b"".join(event.raw for event, _ in run.events()) == run.raw
            assert [decoded.events for _, decoded in run.events()] == [
                (TextDelta(run.choice, piece),) for piece in run.pieces
            ]
            raw += run.raw
            told += (TextDelta(run.choice, piece) for piece in run.pieces)
    return raw, told


EVENTS = st.one_of(
    st.builds(text, st.sampled_from(["a", "b c", "\u2028", "\U0001f600", "\ud83d", "\ude00", ""])),
    st.sampled_from(
        [text("x", usage=USAGE), text("x").replace(b"\n", b"\r\n"), b": comment\n\n", b"\n",
         b"data: {\n\n", b"id: 1\n" + text("x"), b"event: ping\n" + text("x"), text("x")[:-1],
         wire(chunk(tool(0, "{}", name="t", id="1"))), wire(chunk(finish="stop")), DONE,
         b"\xef\xbb\xbf" + text("x")]
    ),
)  # fmt: skip


CUTS = st.lists(st.integers(1, 3000), max_size=6)


@given(st.lists(EVENTS, max_size=12), CUTS, st.integers(0, 900))
def test_events_are_the_same_however_they_are_read(
    stream: list[bytes], cuts: list[int], room: int
) -> None:
    """Bytes, what they say, and the message: one by one, in runs, in whatever reads."""
    body = b"".join(stream)
    decoder, single = ChatDecoder(PLAIN), SseReader(LIMIT)
    expected = single.feed(body)
    told = [event for each in expected for event in decoder.decode(each).events]
    reader = Intake(ChatDecoder(PLAIN), LIMIT)
    raw, got = b"", list[TurnEvent]()
    for data in at_offsets(body, sorted(cuts)):
        some = drained(events_of(reader, data), room)
        raw += some[0]
        got += some[1]
    assert raw == b"".join(event.raw for event in expected)
    assert got == told
    assert reader.message() == decoder.message(0)
    assert reader.rest() == single.rest()


@given(st.lists(EVENTS, max_size=12), CUTS)
def test_what_nobody_reads_goes_by_up_to_what_the_record_wants(
    stream: list[bytes], cuts: list[int]
) -> None:
    """The end mark, counts and errors are taken one by one; nothing is lost in between."""
    body = b"".join(stream)
    reader = Intake(ChatDecoder(PLAIN), LIMIT)
    got = b""
    for data in at_offsets(body, sorted(cuts)):
        events = events_of(reader, data)
        while not events.over:
            by = events.untold()
            assert not tells(by)
            got += by
            if not events.over:
                event = events.event()
                assert tells(event.raw)
                got += event.raw
    assert got + reader.rest() == body


def test_an_event_that_was_looked_at_is_not_read_twice() -> None:
    """A piece of a call would count double."""
    reader = begun()
    events = events_of(reader, wire(chunk(tool(0, "{}", name="t", id="1"))) + text("a"))
    assert events.run(1000) is None
    said = events.look()
    assert events.look() is said
    assert events.event().raw.startswith(b"data: ")
    run = events.run(1000)
    assert run is not None
    assert run.pieces == ["a"]
    (call,) = reader.message().calls
    assert call.arguments == "{}"


def test_a_run_ends_with_the_event_that_is_too_much() -> None:
    """Of events that were cut, and of those that were read one by one."""
    size = len(text("a"))
    for again in (lambda raw: raw, lambda raw: raw.replace(b"\n", b"\r\n")):
        body = again(text("a") * 3)
        for room in range(3 * size):
            run = events_of(begun(), body).run(room)
            assert run is not None
            assert 1 <= len(run.pieces) <= room // size + 1


def test_an_event_that_is_too_large_is_found() -> None:
    """Whole, or in its begin."""
    for data in (text("a" * LIMIT), text("a" * LIMIT)[:-2]):
        with pytest.raises(EventTooLarge):
            events_of(begun(), data)
    reader = begun()
    assert drained(events_of(reader, text("b") + text("a" * LIMIT)))[0] == text("b")
    with pytest.raises(EventTooLarge):
        events_of(reader, b"x")


def test_finish_reason_errors_usage_and_end_mark_are_noted() -> None:
    """Once they are read, and told to be noted."""
    reader = begun()
    events = events_of(
        reader, wire(chunk(finish="stop"), chunk(usage=USAGE), {"error": {"message": "no"}}, DONE)
    )
    while not events.over:
        assert not reader.done
        reader.note(events.look()[1])
        events.event()
    assert (reader.done, reader.failed, reader.finish_seen) == (True, True, True)
    assert reader.usage == USAGE


def test_what_the_end_leaves_open_is_an_event() -> None:
    """Or there is none."""
    reader = begun()
    assert drained(events_of(reader, text("a")[:-1])) == (b"", [])
    assert drained(reader.tail()) == (text("a")[:-1], [TextDelta(0, "a")])
    assert reader.tail().over


def test_a_document_is_read_to_its_end() -> None:
    """One event, and all that it says."""
    reader = Intake(ChatDecoder(PLAIN), LIMIT)
    body = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": USAGE}
    decoded, events = reader.document(json.dumps(body).encode())
    assert events[: len(decoded.events)] == decoded.events
    assert TextDelta(0, "hi") in events
    assert reader.usage == USAGE
