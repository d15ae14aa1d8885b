from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.sse import EventTooLarge, SseEvent, SseReader, event_of
from tests.support.chunks import at_offsets, byte_by_byte, every_split, random_splits
from tests.support.corpus import Case, cases

PIECES = (
    b"data:", b"data: x", b"event: ping", b"id: 7", b"retry: 5", b": note", b"odd", b"\n", b"\r",
    b"\r\n", b"\n\n", b"\r\r", b"\xef\xbb\xbf", b"\xff", "\u2028é🌾".encode(), b"\x0b\x0c", b" ",
    b":",
)  # fmt: skip


def read(reads: list[bytes]) -> tuple[list[SseEvent], SseEvent | None]:
    reader = SseReader()
    events = [event for one in reads for event in reader.feed(one)]
    return events, reader.tail()


@pytest.mark.parametrize(
    ("data", "document"),
    [('{"a": 1}', {"a": 1}), ("[1]", {}), ("[DONE]", {}), ("", {}), (None, {}), ("{", {})],
)
def test_document_is_the_object_that_the_data_holds(
    data: str | None, document: dict[str, object]
) -> None:
    """Anything else reads as an empty one."""
    assert SseEvent(b"", data).document() == document


def feed_all(reader: SseReader, reads: list[bytes], into: list[bytes]) -> None:
    for one in reads:
        into += [event.raw for event in reader.feed(one)]


def dispatched(body: bytes) -> list[tuple[str, str]]:
    return [(event.name, event.data) for event in read([body])[0] if event.data is not None]


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b"data: a\n\n", ["a"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data\n\n", [""]),
        (b"data:\n\n", [""]),
        (b"data: a\r\n\r\n", ["a"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b"data: a\r\n\ndata: b\n\r\n", ["a", "b"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data: a\rdata: b\r\ndata: c\n\n", ["a\nb\nc"]),
        (b"\n\n\n", []),
        (b": beat\n\n", []),
        (b"id: 1\n\n: beat\n\n", []),
        (b"retry: 10\nx: y\nDATA: no\n data: no\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", ["a"]),
        (
            "data: a\u2028b\u2029c\u0085d\x0be\x0cf\n\n".encode(),
            ["a\u2028b\u2029c\u0085d\x0be\x0cf"],
        ),
        (b"data: \xff\xf0\x9f\ndata: \x8c\xbe\n\n", ["\ufffd\ufffd\n\ufffd\ufffd"]),
        (b"data: a\n", []),
        (b"data: {}", []),
    ],
)
def test_reader_dispatches_by_the_standard(body: bytes, data: list[str]) -> None:
    """Fields, line ends, marks and comments are read as the event-stream format has them."""
    assert [value for _, value in dispatched(body)] == data


def test_reader_names_an_event_by_its_field() -> None:
    """The event field names its own event only; an empty one names nothing."""
    body = b"event: error\ndata: a\n\ndata: b\n\nevent:\ndata: c\n\nevent: lone\n\ndata: d\n\n"
    expected = [("error", "a"), ("message", "b"), ("message", "c"), ("message", "d")]
    assert dispatched(body) == expected


def test_reader_says_which_events_carry_an_id() -> None:
    """An id field marks the event in which it stands."""
    events, _ = read([b"id: 1\ndata: a\n\ndata: b\n\nid\n\n"])
    assert [event.has_id for event in events] == [True, False, True]


def test_reader_hands_out_comment_blocks_as_events_without_data() -> None:
    """A block that dispatches nothing is still there to be forwarded, by itself."""
    events, tail = read([b": beat\n\ndata: a\n\n"])
    assert events == [SseEvent(b": beat\n\n", None), SseEvent(b"data: a\n\n", "a")]
    assert tail is None


def test_event_ends_at_the_return_of_its_blank_line() -> None:
    """Behind CR CR nothing is waited for; a line feed that follows opens the next event's bytes."""
    reader = SseReader()
    assert [event.raw for event in reader.feed(b"data: a\r\n\r")] == [b"data: a\r\n\r"]
    assert [event.raw for event in reader.feed(b"\ndata: b\r\n\r")] == [b"\ndata: b\r\n\r"]
    assert reader.feed(b"\n") == ()
    assert reader.tail() == SseEvent(b"\n", None)


def test_tail_keeps_bytes_and_data_of_an_unterminated_event() -> None:
    """What the end cut off is read as if it were complete, once."""
    reader = SseReader()
    reader.feed(b"data: a\n\nevent: error\nid: 3\ndata: b\ndata: c")
    assert reader.tail() == SseEvent(
        b"event: error\nid: 3\ndata: b\ndata: c", "b\nc", "error", has_id=True
    )
    assert reader.tail() is None


def test_tail_drops_a_mark_in_front_of_the_only_line() -> None:
    """A byte order mark counts at the very start even if no line was ever ended."""
    assert read([b"\xef\xbb", b"\xbfdata: a"])[1] == SseEvent(b"\xef\xbb\xbfdata: a", "a")


@pytest.mark.parametrize("one", cases("stream"), ids=lambda one: one.name)
def test_corpus_bytes_come_back_whole(one: Case) -> None:
    """Every hostile body is the sum of its events' bytes, however it was cut."""
    expected = read([one.body])
    events, tail = expected
    assert b"".join(event.raw for event in events) + (tail.raw if tail else b"") == one.body
    assert sum(event.data is not None for event in events) == one.expected["events"]
    ways = [one.reads(), random_splits(one.body, 1), random_splits(one.body, 2)]
    if len(one.body) < 10_000:
        ways.append(byte_by_byte(one.body))
    for reads in ways:
        assert read(reads) == expected


@pytest.mark.parametrize("name", ["mixed_line_ends", "bom_at_start", "done_without_line_end"])
def test_corpus_body_reads_the_same_at_every_split(name: str) -> None:
    """No single border between two reads changes an event."""
    (one,) = [one for one in cases() if one.name == name]
    expected = read([one.body])
    assert all(read(reads) == expected for reads in every_split(one.body))


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join))
@settings(max_examples=80, deadline=None)
def test_any_bytes_read_the_same_at_every_split(body: bytes) -> None:
    """Borders, values and the sum of the bytes depend on the bytes alone."""
    expected = read([body])
    events, tail = expected
    assert b"".join(event.raw for event in events) + (tail.raw if tail else b"") == body
    assert read(byte_by_byte(body)) == expected
    assert all(read(reads) == expected for reads in every_split(body))


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
@settings(max_examples=80, deadline=None)
def test_noise_comes_back_whole(body: bytes, offsets: list[int]) -> None:
    """Bytes that are no event stream at all come back unchanged, and nothing raises."""
    events, tail = read(at_offsets(body, offsets))
    assert (events, tail) == read([body])
    assert b"".join(event.raw for event in events) + (tail.raw if tail else b"") == body


def test_event_over_the_limit_fails_behind_those_in_front_of_it() -> None:
    """The events before are handed out, then the fault says where it stands, with all bytes."""
    body = b"data: a\n\ndata: " + b"x" * 20 + b"\n\ndata: b\n\n"
    for reads in every_split(body):
        reader = SseReader(limit=16)
        got: list[bytes] = []
        with pytest.raises(EventTooLarge, match="16 bytes") as caught:
            feed_all(reader, [*reads, b""], got)
        assert got == [b"data: a\n\n"]
        assert body.startswith(got[0] + caught.value.rest)
        assert len(caught.value.rest) > 16


def test_event_at_the_limit_is_read() -> None:
    """The limit counts every byte of the event, its blank line included."""
    body = b"data: 12345678\n\n"
    assert len(SseReader(limit=len(body)).feed(body)) == 1
    with pytest.raises(EventTooLarge):
        SseReader(limit=len(body) - 1).feed(body)


def test_tail_fails_where_the_limit_was_passed() -> None:
    """A fault that no further read brought to light comes with the end."""
    reader = SseReader(limit=16)
    assert len(reader.feed(b"data: a\n\ndata: " + b"x" * 20)) == 1
    with pytest.raises(EventTooLarge):
        reader.tail()


@pytest.mark.parametrize(("size", "read_size"), [(16 * 1024 * 1024 - 20, 65536), (50_000, 1)])
def test_long_line_is_searched_once(size: int, read_size: int) -> None:
    """After each read all bytes have been searched for line ends, so the cost is linear."""
    body = b"data: " + b"x" * size + b"\n\n"
    reader = SseReader()
    events: list[SseEvent] = []
    for at in range(0, len(body), read_size):
        events += reader.feed(body[at : at + read_size])
        assert reader._scan == len(reader._buffer)
    assert [len(event.data or "") for event in events] == [size]


def test_rest_hands_over_what_no_event_has_carried() -> None:
    """Afterwards nothing is left, not even the LF of a CRLF that ended the last event."""
    reader = SseReader()
    assert len(reader.feed(b"data: a\r\n\r\ndata: b")) == 1
    assert reader.rest() == b"\ndata: b"
    assert reader.tail() is None


def test_an_event_that_is_too_large_hands_over_each_byte_once() -> None:
    """Whoever passes the rest on with every failure passes on the stream."""
    reader, passed = SseReader(8), b""
    for piece in (b"data: lo", b"ng", b"er\n\n", b"data: x\n\n"):
        try:
            assert reader.feed(piece) == ()
        except EventTooLarge as problem:
            passed += problem.rest
    assert passed == b"data: longer\n\ndata: x\n\n"
    assert reader.tail() is None


def test_parts_are_what_feed_would_cut() -> None:
    """In front of blank lines; what is left open comes with the next read, by either way."""
    one, two = b'data: {"a": 1}\n\n', b": remark\nid: 3\ndata: b\n\n"
    reader = SseReader()
    assert reader.parts(one + two + one[:5]) == [one[:-2], two[:-2]]
    assert reader.parts(one[5:] + two) == [one[:-2], two[:-2]]
    (event,) = reader.feed(one)
    assert event_of(one[:-2]) == event
    (event,) = reader.feed(two)
    assert event_of(two[:-2]) == event
    assert reader.rest() == b""


@pytest.mark.parametrize(
    "data",
    [b"data: a\r\n\r\n", b"data: a\n\n\n", b"\ndata: a\n\n", b"\xef\xbb\xbfdata: a\n\n", b"",
     b"data: " + b"a" * 100 + b"\n\n"],
)  # fmt: skip
def test_what_has_to_be_read_is_not_cut(data: bytes) -> None:
    """Other line ends, empty events, a byte order mark, nothing, too much: nothing was read."""
    reader, other = SseReader(100), SseReader(100)
    assert reader.parts(data) is None
    for each in (reader, other):
        try:
            assert data.startswith(b"".join(event.raw for event in each.feed(data)))
        except EventTooLarge:
            assert len(data) > 100
    assert reader.rest() == other.rest()


def test_what_is_there_of_an_event_is_not_moved_while_it_grows() -> None:
    """A large event comes in hundreds of reads: to copy what came before would be quadratic."""
    reader = SseReader()
    assert len(reader.feed(b"data: 0\n\n")) == 1
    assert reader.feed(b"data: ") == ()
    for _ in range(5):
        assert reader.parts(b"a" * 1000) is None
        assert reader.feed(b"a" * 1000) == ()
    assert reader.parts(b"\n") is None
    assert reader.feed(b"\n") == ()
    assert reader.parts(b"\n") == [b"data: " + b"a" * 5000]
