from __future__ import annotations

import pytest

from proxy.body import Body, Whole
from proxy.errors import UpstreamBroken
from proxy.sse import SseReader
from tests.support.responses import response

pytestmark = pytest.mark.anyio

JSON = ((b"Content-Type", b"application/json"),)
STREAM = ((b"content-type", b" Text/Event-Stream; charset=utf-8"),)


async def everything(body: Body) -> bytes:
    got = b""
    while piece := await body.read():
        got += piece
    return got


async def test_content_type_says_stream_without_a_look() -> None:
    """An event stream is known before its first byte, in whatever case it is written."""
    body = Body(response(UpstreamBroken("not asked for"), headers=STREAM))
    assert await body.is_event_stream()


@pytest.mark.parametrize(
    "start",
    [b"data: {}", b"data:{}", b": wait", b"event: x", b"id: 1", b"retry: 3", b"\xef\xbb\xbfdata: x",
     b"\r\n\r\n \tdata: x", b"\n" * 200 + b"data: x"],
)  # fmt: skip
async def test_stream_is_known_by_its_beginning(start: bytes) -> None:
    """Also with the wrong type, in whatever pieces; no byte is lost by looking."""
    for pieces in ([start], [start[at : at + 1] for at in range(len(start))]):
        body = Body(response(*pieces, headers=JSON))
        assert await body.is_event_stream()
        assert await everything(body) == start


@pytest.mark.parametrize(
    "start", [b'{"data": 1}', b"<html>data: x", b"", b"   ", b"dat", b"database", b"\xef\xbb\xbf{}"]
)
async def test_anything_else_is_a_document(start: bytes) -> None:
    """Nothing is lost by looking, in whatever pieces it comes."""
    for pieces in ([start], [start[at : at + 1] for at in range(len(start))]):
        body = Body(response(*pieces))
        assert not await body.is_event_stream()
        assert await everything(body) == start


async def test_rest_stops_beyond_its_limit() -> None:
    """More than the limit is answered where there is more; the remainder can still be read."""
    body = Body(response(b"abc", b"def", b"ghi"))
    assert await body.rest(4) == b"abcdef"
    assert await everything(body) == b"ghi"
    assert await Body(response(b"abc", b"def")).rest(6) == b"abcdef"


async def test_break_is_raised_where_it_comes() -> None:
    """Bytes before it are read first."""
    body = Body(response(b"abc", UpstreamBroken("broke off")))
    assert await body.read() == b"abc"
    with pytest.raises(UpstreamBroken):
        await body.read()


async def test_whole_document_reads_as_a_stream() -> None:
    """One event and an end mark, over however many lines the document was written."""
    events = SseReader().feed(await Whole(b'\n{"a":\r\n 1}\n').read())
    assert [event.data for event in events] == ['{"a":   1}', "[DONE]"]
    whole = Whole(b"{}")
    assert await everything(whole) == b"data: {}\n\ndata: [DONE]\n\n"
