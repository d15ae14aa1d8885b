from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from proxy.connection import Broken, Connection, Silent

pytestmark = pytest.mark.anyio
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LONG = 30.0


class Wire(asyncio.Transport):
    """The socket of a connection: what was written, and whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False
        self.reading = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def abort(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


async def asked(method: str = "GET") -> tuple[Connection, Wire]:
    """Connect and send a request."""
    connection, wire = Connection(), Wire()
    connection.connection_made(wire)
    await connection.send(method, GET, b"", LONG)
    return connection, wire


async def whole(connection: Connection) -> bytes:
    body = b""
    while piece := await connection.read(LONG):
        body += piece
    return body


OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS = {
    "chunked": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2 \r\nde\r\n0\r\nX-T: 1\r\n\r\n",
        True,
    ),
    "length": (OK + b"Content-Length: 5\r\n\r\nabcde", True),
    "closing": (OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nabcde", False),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nabcde", False),
    "interim": (
        b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nabcde",
        True,
    ),
    "bare": (OK.replace(b"\r", b"") + b"Content-Length: 5\n\nabcde", True),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("step", [1, 7, 1000])
async def test_an_answer_is_the_same_at_any_cutting(name: str, step: int) -> None:
    """Status, fields, body, end, and whether the connection may go on."""
    raw, reusable = ANSWERS[name]
    connection, _ = await asked()
    for at in range(0, len(raw), step):
        connection.data_received(raw[at : at + step])
    await connection.head(LONG)
    assert connection.status == 200
    assert b"Link" not in dict(connection.headers)
    assert await whole(connection) == b"abcde"
    assert connection.complete
    assert connection.reusable is reusable


async def test_a_body_may_end_with_the_connection() -> None:
    """Where no field says how long it is; then the connection is used up."""
    connection, _ = await asked()
    connection.data_received(OK + b"\r\nabc")
    connection.eof_received()
    assert await whole(connection) == b"abc"
    assert not connection.reusable


@pytest.mark.parametrize("framing", [b"Content-Length: 9", b"Transfer-Encoding: chunked"])
async def test_what_came_before_a_break_is_read_first(framing: bytes) -> None:
    """Then the break is raised, as often as one asks."""
    connection, _ = await asked()
    body = b"abc" if b"Length" in framing else b"3\r\nabc\r\n"
    connection.data_received(OK + framing + b"\r\n\r\n" + body)
    connection.connection_lost(ConnectionResetError())
    assert await connection.read(LONG) == b"abc"
    for _ in range(2):
        with pytest.raises(Broken, match="ConnectionResetError"):
            await connection.read(LONG)
    assert connection.lost.done()


@pytest.mark.parametrize(
    "raw", [b"", b"HTTP/1.1 2", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: " + b"x" * 300000]
)
async def test_what_is_no_answer_is_a_break(raw: bytes) -> None:
    """Nothing, half a head, another protocol, a head without an end."""
    connection, _ = await asked()
    if raw:
        connection.data_received(raw)
    connection.eof_received()
    with pytest.raises(Broken):
        await connection.head(LONG)


async def test_silence_is_raised() -> None:
    """Before the head and in the body alike."""
    connection, _ = await asked()
    with pytest.raises(Silent):
        await connection.head(0.001)
    connection.data_received(OK + b"Content-Length: 5\r\n\r\n")
    with pytest.raises(Silent):
        await connection.read(0.001)


@pytest.mark.parametrize("method", ["HEAD", "GET"])
async def test_answers_without_a_body_are_complete_with_their_head(method: str) -> None:
    """The answer to HEAD, and a 304, whatever length they name."""
    connection, _ = await asked(method)
    status = b"200" if method == "HEAD" else b"304"
    connection.data_received(b"HTTP/1.1 %b X\r\nContent-Length: 5\r\n\r\n" % status)
    assert await connection.read(LONG) == b""
    assert connection.complete


async def test_a_fast_upstream_is_slowed_down() -> None:
    """Reading pauses while much is unread, and goes on once it was taken."""
    connection, wire = await asked()
    connection.data_received(OK + b"Content-Length: 900000\r\n\r\n" + b"x" * 300000)
    assert not wire.reading
    assert len(await connection.read(LONG)) == 300000
    assert wire.reading


async def test_an_upload_stops_where_the_answer_comes_first() -> None:
    """What is left of the body is not sent, and the connection is used up."""
    connection, wire = Connection(), Wire()
    connection.connection_made(wire)

    async def body() -> AsyncIterator[bytes]:
        yield b"one"
        connection.data_received(b"HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n")
        yield b"two"

    await connection.send("POST", GET, body(), LONG)
    assert wire.written.endswith(b"one")
    assert await connection.read(LONG) == b""
    assert not connection.reusable


async def test_an_idle_connection_that_speaks_is_closed() -> None:
    """Nothing was asked, so it is no answer."""
    connection, wire = await asked()
    connection.data_received(ANSWERS["length"][0])
    assert await whole(connection) == b"abcde"
    connection.data_received(b"HTTP/1.1 408 Timeout\r\n\r\n")
    assert wire.closed
    assert not connection.reusable
