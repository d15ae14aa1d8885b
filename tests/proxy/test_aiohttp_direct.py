"""Short requests: what is written, what is not asked of the client, and what becomes of faults.

How answers end, break and are cancelled is tested of both ways at once, in `test_upstream` and
`test_aiohttp_transport`.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from proxy.aiohttp_direct import LONGEST, Direct, Head, Try
from proxy.aiohttp_transport import AiohttpTransport
from proxy.config import Settings
from proxy.errors import BadRequest, UpstreamBroken
from proxy.headers import Field
from proxy.upstream import Upstream, UpstreamResponse
from tests.support.upstream import Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
HOST: Sequence[Field] = [(b"Host", b"a.b")]


class Listening:
    """A server that says `answer` to each of its reads, which it keeps."""

    def __init__(self, answer: bytes) -> None:
        self.read: list[bytes] = []
        self._answer = answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            while data := await reader.read(1 << 20):
                self.read.append(data)
                writer.write(self._answer)


@contextlib.asynccontextmanager
async def listening(answer: bytes = OK) -> AsyncIterator[tuple[Listening, Direct]]:
    """A server, and what sends to it."""
    heard = Listening(answer)
    server = await asyncio.start_server(heard.serve, "127.0.0.1", 0)
    try:
        async with sending_to(server.sockets[0].getsockname()[1]) as direct:
            yield heard, direct
    finally:
        server.close()
        await server.wait_closed()


@contextlib.asynccontextmanager
async def sending_to(port: int) -> AsyncIterator[Direct]:
    """What sends there."""
    tls = httpx.create_ssl_context(trust_env=False)
    transport = AiohttpTransport(httpx.AsyncHTTPTransport(), tls, 30)
    yield Direct(transport, httpx.URL(f"http://127.0.0.1:{port}"), 5)
    await transport.aclose()


async def ask(
    direct: Direct, body: bytes = b"{}", fields: Sequence[Field] = HOST, target: bytes = b"/v1/chat"
) -> tuple[Head | None, bool]:
    """Give the answer, and whether its connection had been used before."""
    told = Try()
    head = await direct.send(target, fields, body, {"read": 5}, told)
    return head, told.reused


async def test_request_is_written_in_one_piece_as_given() -> None:
    """Target, names, values and body byte for byte, in order; nothing is added."""
    fields = [*HOST, (b"X-One", b"caf\xe9"), (b"x-one", b"\t two "), (b"Content-Length", b"2")]
    async with listening() as (heard, direct):
        head, _ = await ask(direct, b"{}", fields, b"/v1/c%2f?a='\"[]#x")
    assert head is not None
    assert (head.status, head.fields) == (200, ((b"Content-Length", b"2"),))
    assert heard.read == [
        (
            b"POST /v1/c%2f?a='\"[]#x HTTP/1.1\r\nHost: a.b\r\nX-One: caf\xe9\r\nx-one: \t two \r\n"
            b"Content-Length: 2\r\n\r\n{}"
        )
    ]


async def test_connection_is_used_again_and_that_is_told() -> None:
    """Once an answer was read to its end; the first request on it is no second one."""
    async with listening() as (heard, direct):
        reused = []
        for _ in range(3):
            head, again = await ask(direct)
            assert head is not None
            reused.append(again)
            assert b"".join([piece async for piece in head.body]) == b"ok"
            assert head.body.ended
    assert reused == [False, True, True]
    assert len(heard.read) == 3


async def test_interim_answers_are_passed_over() -> None:
    """Any number of them, in one read with the answer or not."""
    async with listening(b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 H\r\nLink: x\r\n\r\n" + OK) as (
        _,
        direct,
    ):
        head, _ = await ask(direct)
        assert head is not None
        assert head.status == 200
        head.body.close()


async def test_silence_behind_an_interim_answer_is_a_timeout() -> None:
    """An answer that was only announced has not begun."""
    async with listening(b"HTTP/1.1 100 Continue\r\n\r\n") as (_, direct), asyncio.timeout(5):
        with pytest.raises(httpx.ReadTimeout):
            await direct.send(b"/v1", HOST, b"{}", {"read": 0.05}, Try())


@pytest.mark.parametrize("size", [2, LONGEST], ids=["direct", "by the client"])
@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize(
    "begun",
    [
        b"H",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n",
    ],
)
async def test_what_was_answered_in_part_is_not_asked_again(
    begun: bytes,
    reset: bool,  # noqa: FBT001 - a parameter
    size: int,
) -> None:
    """The upstream has begun to work on it, however little it said of that before it broke off."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                asked.append(await reader.readexactly(size))
                if len(asked) != 2:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    continue
                writer.write(begun)
                await asyncio.sleep(0.01)  # the kernel tells nobody where a read ends
                if reset:
                    linger = struct.pack("ii", 1, 0)
                    own = writer.get_extra_info("socket")
                    own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    client = Upstream(Settings.model_validate({"upstream": {"url": url}}))

    async def post() -> UpstreamResponse:
        return await client.open("POST", b"/v1", b"", [], b" " * size)

    response = await post()
    assert await response.read() == b"ok"
    assert not await response.read()
    await response.aclose()
    with pytest.raises(UpstreamBroken, match="before it answered"):
        await post()
    assert len(asked) == 2
    await client.aclose()
    server.close()


@pytest.mark.parametrize(
    ("body", "fields", "target"),
    [
        (b"x" * LONGEST, HOST, b"/"),
        (b"{}", [(b"x-mark", b"x" * LONGEST)], b"/"),
        (b"{}", [(b"x-mark", b"a\r\nb: c")], b"/"),
        (b"{}", [(b"x\nmark", b"a")], b"/"),
        (b"{}", [(b"x-mark", b"\0")], b"/"),
        (b"{}", HOST, b"/a b"),
        (b"{}", HOST, b""),
    ],
)
async def test_what_is_not_ours_to_write_is_left_to_the_client(
    body: bytes, fields: Sequence[Field], target: bytes
) -> None:
    """What is too long for one write, and what would be no request; nothing is sent."""
    async with listening() as (heard, direct):
        assert (await ask(direct, body, fields, target))[0] is None
    assert heard.read == []


async def test_upstream_sends_the_longer_ones_too(upstream: ScriptedUpstream) -> None:
    """The client's limit is none of the proxy's, and what no request can hold is refused."""
    client = Upstream(Settings.model_validate({"upstream": {"url": upstream.url}}))
    upstream.answer = lambda _: Reply(b"ok")
    for size in (1, LONGEST - 1, LONGEST, 5 * LONGEST):
        response = await client.open("POST", b"/chat/completions", b"", [], b"x" * size)
        await response.aclose()
    assert [len(each.body) for each in upstream.requests] == [1, LONGEST - 1, LONGEST, 5 * LONGEST]
    with pytest.raises(BadRequest):
        await client.open("POST", b"/chat/completions", b"", [(b"x-mark", b"a\rb")], b"{}")
    await client.aclose()


async def test_nobody_listening_is_a_connect_error() -> None:
    """In httpx's words, as with its own transport."""
    with socket.create_server(("127.0.0.1", 0)) as unheard:
        port = unheard.getsockname()[1]
    async with sending_to(port) as direct:
        with pytest.raises(httpx.ConnectError):
            await ask(direct)


async def test_request_over_an_open_connection_makes_no_task(upstream: ScriptedUpstream) -> None:
    """Each would be a step of the event loop more until the first event."""
    client = Upstream(Settings.model_validate({"upstream": {"url": upstream.url}}))
    upstream.answer = lambda _: Reply(b"ok")
    made: list[str] = []

    def noting(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
        made.append(work.__qualname__)
        return asyncio.Task(work, loop=loop, **more)

    for _ in range(3):
        response = await client.open("POST", b"/chat/completions", b"", [], b"{}")
        assert b"".join([piece async for piece in response]) == b"ok"
        await response.aclose()
        # From the second on: a connection is made by tasks of aiohttp's.
        asyncio.get_running_loop().set_task_factory(noting)
    asyncio.get_running_loop().set_task_factory(None)
    assert made == []
    await client.aclose()
