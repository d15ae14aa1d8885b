from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.intake import Intake
from proxy.quirks import PLAIN
from proxy.sse import EventTooLarge
from proxy.wire.chat.decoder import ChatDecoder
from rules_engine.events import TextDelta, TurnEvent
from tests.support.attempts import DONE, USAGE, chunk, tool, wire
from tests.support.chunks import at_offsets

LIMIT = 4000


def text(piece: str, **more: object) -> bytes:
    return wire(chunk({"content": piece}, **more))


def intake(limit: int = LIMIT) -> Intake:
    """One whose stream has begun."""
    begun = Intake(ChatDecoder(PLAIN), limit)
    (event,) = begun.feed(wire(chunk({"role": "assistant", "content": ""})))
    begun.decode(event)
    return begun


EVENTS = st.one_of(
    st.builds(text, st.sampled_from(["a", "b c", "\u2028", "\U0001f600", "\ud83d", "\ude00", ""])),
    st.sampled_from(
        [text("x", usage=USAGE), text("x").replace(b"\n", b"\r\n"), b": comment\n\n", b"\n",
         b"data: {\n\n", b"id: 1\n" + text("x"), b"event: ping\n" + text("x"),
         wire(chunk(tool(0, "{}", name="t", id="1"))), wire(chunk(finish="stop"))]
    ),
)  # fmt: skip


@given(st.lists(EVENTS, max_size=12), st.lists(st.integers(1, 3000), max_size=6))
def test_events_are_the_same_by_the_short_way(stream: list[bytes], cuts: list[int]) -> None:
    """Bytes, what they say, and the message, however the reads fall."""
    body = b"".join(stream)
    long, short = intake(), intake()
    expected = long.feed(body)
    told: list[TurnEvent] = [event for each in expected for event in long.decode(each).events]
    raw, got = b"", list[TurnEvent]()
    for data in at_offsets(body, sorted(cuts)):
        run = short.texts(data, LIMIT)
        if run is not None:
            raw += run.raw
            assert b"".join(event.raw for event, _ in run.events()) == run.raw
            got += [event for _, decoded in run.events() for event in decoded.events]
            assert got[-len(run.pieces) :] == [TextDelta(run.choice, one) for one in run.pieces]
            continue
        for event in short.feed(data):
            raw += event.raw
            got += short.decode(event).events
    assert raw == b"".join(event.raw for event in expected)
    assert got == told
    assert short.message() == long.message()
    assert short.rest() == long.rest()


def test_events_that_nobody_reads_are_let_by_whole() -> None:
    """What a read leaves open goes with the next one; nothing is lost between the two ways."""
    body = text("a") + text("b") + text("c")
    border = len(text("a"))
    for cut in range(1, len(body)):
        reader = intake()
        got = b""
        for data in (body[:cut], body[cut:]):
            whole = reader.pass_by(data)
            assert whole is None or (got + whole)[-2:] == b"\n\n"
            got += b"".join(e.raw for e in reader.feed(data)) if whole is None else whole
            assert cut < border or got
        assert got == body


@pytest.mark.parametrize(
    "event", [DONE, wire(chunk(usage=USAGE)), wire({"error": {"message": "no"}})]
)
def test_what_the_record_wants_is_not_let_by(event: bytes) -> None:
    """The end mark, counts and errors, in one read or in two."""
    assert intake().pass_by(text("a") + event) is None
    for cut in range(1, len(event)):
        reader = intake()
        assert reader.pass_by(text("a") + event[:cut]) == text("a")
        assert reader.pass_by(event[cut:]) is None
        assert [each.raw for each in reader.feed(event[cut:])] == [event]


def test_no_more_is_taken_at_once_than_may_be_held() -> None:
    """Beyond that, events are counted one by one."""
    read = text("a") + text("b")
    assert intake().texts(read, len(read)) is not None
    assert intake().texts(read, len(read) - 1) is None


def test_an_event_that_is_too_large_is_found_by_both_ways() -> None:
    """Whole, or in its begin."""
    for data in (text("a" * LIMIT), text("b") + text("a" * LIMIT)[:-2] + b"x" * LIMIT):
        reader = intake()
        assert reader.texts(data, 10 * LIMIT) is None
        assert reader.pass_by(data) is None
        given = [*reader.feed(data)] if data.startswith(text("b")) else []
        assert b"".join(event.raw for event in given) in (b"", text("b"))
        with pytest.raises(EventTooLarge):
            reader.feed(data if not given else b"x")


def test_finish_reason_errors_usage_and_end_mark_are_noted() -> None:
    """Once they are read, and told to be noted."""
    reader = intake()
    body = wire(chunk(finish="stop"), chunk(usage=USAGE), {"error": {"message": "no"}}, DONE)
    for event in reader.feed(body):
        assert not reader.done
        reader.note(reader.decode(event))
    assert (reader.done, reader.failed, reader.finish_seen) == (True, True, True)
    assert reader.usage == USAGE


def test_a_document_is_read_to_its_end() -> None:
    """One event, and all that it says."""
    reader = Intake(ChatDecoder(PLAIN), LIMIT)
    body = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": USAGE}
    decoded, events = reader.document(json.dumps(body).encode())
    assert events[: len(decoded.events)] == decoded.events
    assert TextDelta(0, "hi") in events
    assert reader.usage == USAGE
