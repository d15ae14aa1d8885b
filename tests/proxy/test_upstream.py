from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import AsyncIterator

import anyio
import psutil
import pytest

from proxy.aiohttp_transport import AiohttpTransport
from proxy.config import Settings
from proxy.errors import (
    BodyTooLarge,
    ConnectFailed,
    FirstByteTimeout,
    IdleTimeout,
    UpstreamBroken,
)
from proxy.upstream import Upstream, UpstreamResponse
from tests.support.packing import PACKED_BY
from tests.support.upstream import Reply, Request, ScriptedUpstream, document

pytestmark = pytest.mark.anyio


def settings(url: str, **more: float | str) -> Settings:
    return Settings.model_validate({"upstream": {"url": url, **more}})


@pytest.fixture(params=["aiohttp", "httpx"])
async def client(
    upstream: ScriptedUpstream, request: pytest.FixtureRequest
) -> AsyncIterator[Upstream]:
    running = Upstream(settings(upstream.url, transport=request.param))
    yield running
    await running.aclose()


async def get(client: Upstream, path: bytes = b"/models") -> UpstreamResponse:
    return await client.open("GET", path, b"", [])


async def rest_decoded(response: UpstreamResponse) -> bytes:
    """Read to the end with the content coding undone."""
    pieces = []
    while piece := await response.read_decoded():
        pieces.append(piece)
    return b"".join(pieces)


async def read(response: UpstreamResponse) -> bytes:
    return b"".join([piece async for piece in response])


async def test_open_sends_the_request_as_given(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Path and query go out byte for byte, fields keep order and case, the body is untouched."""
    upstream.script(document({}))
    fields = [(b"X-Title", b"caf\xe9"), (b"authorization", b"Bearer k"), (b"x-title", b"two")]
    response = await client.open(
        "POST", b"/chat/completions", b"a=%2f&b='\"c[]", fields, b'{"model": 1}'
    )
    await read(response)
    await response.aclose()
    request = upstream.requests[0]
    assert request.target == "/v1/chat/completions?a=%2f&b='\"c[]"
    assert request.body == b'{"model": 1}'
    assert request.headers == (
        ("Host", f"127.0.0.1:{upstream.port}"),
        ("X-Title", "caf\xe9"),
        ("authorization", "Bearer k"),
        ("x-title", "two"),
        ("Accept-Encoding", "identity"),
        ("Content-Length", "12"),
    )


async def test_open_drops_what_must_not_travel(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Hop-by-hop fields, those that Connection names, our own and the client's codings stay."""
    upstream.script(document({}))
    names = [
        b"Connection", b"Keep-Alive", b"TE", b"Trailer", b"Upgrade", b"Proxy-Authorization",
        b"Expect", b"X-TTSR-Session", b"X-Hop", b"Accept-Encoding",
    ]  # fmt: skip
    response = await client.open("GET", b"/models", b"", [(n, b"x-hop, gzip") for n in names])
    await response.aclose()
    assert upstream.requests[0].names() == {"host", "accept-encoding"}
    assert upstream.requests[0].header("accept-encoding") == "identity"


async def test_open_streams_a_body_of_unknown_length(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """An iterator is sent chunked, or with the client's length where it gave one."""

    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"one ", b"two ", b"three"):
            yield piece

    upstream.script(document({}), document({}))
    for fields in ([], [(b"content-length", b"13")]):
        response = await client.open("POST", b"/files", b"", fields, pieces())
        await read(response)
        await response.aclose()
    chunked, sized = upstream.requests
    assert chunked.body == sized.body == b"one two three"
    assert chunked.header("transfer-encoding") == "chunked"
    assert sized.header("content-length") == "13"


async def test_open_passes_on_what_the_body_raises(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """A fault of the client while its body is read reaches the caller, and the socket closes."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        raise BodyTooLarge("too large")

    with pytest.raises(BodyTooLarge):
        await client.open("POST", b"/files", b"", [], pieces())
    await upstream.unconnected.wait()


async def test_credentials_in_the_url_become_basic_authorization(
    upstream: ScriptedUpstream,
) -> None:
    """They are used where the client sends none, and never shown."""
    client = Upstream(settings(f"http://me:p%40ss@127.0.0.1:{upstream.port}/v1"))
    upstream.script(document({}), document({}))
    for fields in ([], [(b"Authorization", b"Bearer k")]):
        await (await client.open("GET", b"/models", b"", fields)).aclose()
    sent = [request.header("authorization") for request in upstream.requests]
    assert sent == ["Basic bWU6cEBzcw==", "Bearer k"]
    assert "p%40ss" not in client.shown
    await client.aclose()


async def test_redirects_and_cookies_are_passed_on(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """A redirect is an answer like any other, and no cookie is kept for the next request."""
    moved = (("location", "/elsewhere"), ("set-cookie", "a=1"))
    upstream.script(Reply(status=308, headers=moved, framing="content-length"), document({}))
    first = await get(client)
    await read(first)
    await first.aclose()
    await (await get(client)).aclose()
    assert first.status == 308
    assert (b"location", b"/elsewhere") in first.headers
    assert upstream.requests[1].header("cookie") is None


async def test_a_complete_answer_gives_its_connection_back(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Two answers read to their ends share one connection."""
    upstream.script(document({"n": 1}), document({"n": 2}))
    for _ in range(2):
        response = await get(client)
        await read(response)
        await response.aclose()
    assert upstream.connections == 1


async def test_a_stale_connection_is_replaced(upstream: ScriptedUpstream, client: Upstream) -> None:
    """An idle connection that the upstream closes as it is reused costs no request."""
    upstream.script(document({}), Reply(terminate="abort", gates={-1: asyncio.Event()}))
    upstream.script(document({"n": 2}))
    response = await get(client)
    await read(response)
    await response.aclose()
    second = asyncio.ensure_future(client.open("POST", b"/chat/completions", b"", [], b"{}"))
    await upstream.exchange(1)
    await upstream.drop_connections()
    response = await second
    assert await read(response) == b'{"n": 2}'
    await response.aclose()


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_stale_connections_in_a_row_are_a_break(
    upstream: ScriptedUpstream, client: Upstream, method: str
) -> None:
    """As after a restart of the upstream: a fault that is told, and not a third request."""
    gate = asyncio.Event()
    upstream.answer = lambda _: document({}, gates={-1: gate})
    opened = [asyncio.ensure_future(client.open(method, b"/models", b"", [])) for _ in range(3)]
    await upstream.exchange(2)
    gate.set()
    for response in await asyncio.gather(*opened):
        await read(response)
        await response.aclose()
    asked: list[Request] = []

    def close(request: Request) -> Reply:
        asked.append(request)
        raise ConnectionResetError

    upstream.answer = close
    with pytest.raises(UpstreamBroken, match="before it answered"):
        await client.open(method, b"/models", b"", [])
    assert len(asked) == 2


async def test_raw_bytes_and_decoded_bytes_of_a_compressed_answer(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Iterating gives what came; `decoded` undoes gzip piece by piece."""
    body = b"data: " + b"x" * 500 + b"\n\n"
    upstream.script(Reply(body, gzip=True, splits=(100, 300)), Reply(body, gzip=True))
    response = await get(client)
    assert response.decodable
    assert await rest_decoded(response) == body
    await response.aclose()
    response = await get(client)
    raw = await read(response)
    await response.aclose()
    assert raw[:2] == b"\x1f\x8b"


@pytest.mark.parametrize("coding", PACKED_BY)
async def test_answer_is_read_whatever_its_coding(
    upstream: ScriptedUpstream, client: Upstream, coding: str
) -> None:
    """We ask for none, but an upstream may choose one all the same; any cutting reads alike."""
    body = b"data: " + b"x" * 500 + b"\n\n"
    packed = PACKED_BY[coding](body)
    fields = (("content-encoding", coding),)
    upstream.script(Reply(packed, headers=fields, splits="every_byte"))
    response = await get(client)
    assert response.decodable
    assert await rest_decoded(response) == body
    await response.aclose()


async def test_a_damaged_compressed_answer_is_a_break(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Bytes that are not gzip under a gzip label raise UpstreamBroken."""
    upstream.script(Reply(b"plain", headers=(("content-encoding", "gzip"),)))
    response = await get(client)
    with pytest.raises(UpstreamBroken, match="Content-Encoding"):
        await rest_decoded(response)
    await response.aclose()


async def test_no_listener_is_a_connect_failure() -> None:
    """The message names the upstream and what to check."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        client = Upstream(settings(f"http://u:secret@127.0.0.1:{port}"))
        with pytest.raises(ConnectFailed, match=r"check upstream\.url") as caught:
            await get(client)
        assert "secret" not in caught.value.message
        await client.aclose()


async def test_silence_before_the_head_is_a_first_byte_timeout(
    upstream: ScriptedUpstream,
) -> None:
    """It names its setting, and the socket is closed."""
    client = Upstream(settings(upstream.url, firstByteTimeout=0.05))
    upstream.script(Reply(gates={-1: asyncio.Event()}))
    with pytest.raises(FirstByteTimeout, match=r"upstream\.firstByteTimeout"):
        await get(client)
    await (await upstream.exchange()).closed.wait()
    await client.aclose()


async def test_silence_in_the_body_is_an_idle_timeout(upstream: ScriptedUpstream) -> None:
    """The idle limit counts from the last byte, apart from the first-byte limit."""
    client = Upstream(settings(upstream.url, firstByteTimeout=30, idleTimeout=0.05))
    upstream.script(Reply(b"one two", gates={4: asyncio.Event()}))
    response = await get(client)
    pieces = aiter(response)
    assert await anext(pieces) == b"one "
    with pytest.raises(IdleTimeout, match=r"upstream\.idleTimeout"):
        await anext(pieces)
    await response.aclose()
    await (await upstream.exchange()).closed.wait()
    await client.aclose()


@pytest.mark.parametrize("terminate", ["abort", "reset"])
@pytest.mark.parametrize("framing", ["chunked", "content-length"])
async def test_a_break_in_the_body_is_told_apart_from_its_end(
    upstream: ScriptedUpstream, client: Upstream, terminate: str, framing: str
) -> None:
    """Bytes before the break are delivered, then UpstreamBroken is raised."""
    if framing == "content-length":
        reply = Reply(b"one ", headers=(("content-length", "9"),), framing="close")
    else:
        reply = Reply(b"one ")
    seen = asyncio.Event()
    upstream.script(_with(reply, terminate, seen))
    response = await get(client)
    pieces = aiter(response)
    assert await anext(pieces) == b"one "
    seen.set()
    with pytest.raises(UpstreamBroken, match="broke off in mid-answer"):
        await anext(pieces)
    await response.aclose()


def _with(reply: Reply, terminate: str, gate: asyncio.Event) -> Reply:
    return Reply(
        reply.body,
        headers=reply.headers,
        framing=reply.framing,
        terminate=terminate,  # type: ignore[arg-type]
        gates={len(reply.body): gate},
    )


async def test_no_answer_at_all_is_a_break(upstream: ScriptedUpstream, client: Upstream) -> None:
    """A connection closed without a status line is the upstream's fault."""
    gate = asyncio.Event()
    upstream.script(Reply(gates={-1: gate}))
    opening = asyncio.ensure_future(get(client))
    await upstream.exchange()
    await upstream.drop_connections()
    with pytest.raises(UpstreamBroken, match="before it answered"):
        await opening


async def test_cancelling_open_closes_the_socket(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """The upstream sees the close while it has not answered yet."""
    upstream.script(Reply(gates={-1: asyncio.Event()}))
    opening = asyncio.ensure_future(get(client))
    exchange = await upstream.exchange()
    opening.cancel()
    await exchange.closed.wait()
    with pytest.raises(asyncio.CancelledError):
        await opening


async def test_cancelling_a_scope_closes_the_socket(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """The same for the cancellation that a task group or a time limit brings."""
    upstream.script(Reply(gates={-1: asyncio.Event()}))
    async with anyio.create_task_group() as group:
        group.start_soon(get, client)
        exchange = await upstream.exchange()
        group.cancel_scope.cancel()
    await exchange.closed.wait()


async def test_cancelling_a_reader_closes_the_socket(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Closing in a `finally` of a cancelled task reaches the upstream."""
    upstream.script(Reply(b"one two", gates={4: asyncio.Event()}))
    begun = asyncio.Event()

    async def reading() -> None:
        response = await get(client)
        try:
            async for _ in response:
                begun.set()
        finally:
            await response.aclose()

    task = asyncio.ensure_future(reading())
    await begun.wait()
    task.cancel()
    task.cancel()
    await (await upstream.exchange()).closed.wait()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_aclose_in_mid_answer_is_at_once(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """The upstream sees the close although `aclose` itself is cancelled before it returns."""
    upstream.script(Reply(b"one two", gates={4: asyncio.Event()}))
    response = await get(client)
    async for _ in response:
        break
    closing = asyncio.ensure_future(response.aclose())
    await asyncio.sleep(0)
    closing.cancel()
    await (await upstream.exchange()).closed.wait()
    await asyncio.gather(closing, return_exceptions=True)


@pytest.mark.parametrize("seed", range(3))
async def test_many_requests_cancelled_anywhere_leak_nothing(
    upstream: ScriptedUpstream, client: Upstream, seed: int
) -> None:
    """200 requests cancelled after random numbers of loop steps: no socket or task is left."""
    rng = random.Random(seed)
    body = b"x" * 400
    upstream.answer = lambda _: Reply(body, splits=tuple(range(1, 400, 7)))
    before = asyncio.all_tasks()

    async def one() -> None:
        response = await client.open("POST", b"/chat/completions", b"", [], b"{}" * 50)
        try:
            assert await read(response) == body
        finally:
            await response.aclose()

    async def cancelled_after(steps: int) -> None:
        task = asyncio.ensure_future(one())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    for _ in range(5):
        await asyncio.gather(*(cancelled_after(rng.randrange(120)) for _ in range(3)))
    await asyncio.gather(*client._tasks, return_exceptions=True)
    assert own_connections(upstream.port) == idle_connections(client)
    await client.aclose()
    await upstream.unconnected.wait()
    left = {t for t in asyncio.all_tasks() - before if "_serve" not in repr(t)}
    assert not [task for task in left if not task.done()]


def idle_connections(client: Upstream) -> int:
    """Count what the transport keeps for later requests; nothing may still be in use."""
    transport = client._transport
    if isinstance(transport, AiohttpTransport):
        assert transport._session is not None
        connector = transport._session.connector
        assert connector is not None
        assert not connector._acquired
        return sum(map(len, connector._conns.values()))
    pool = transport._pool  # type: ignore[attr-defined]
    assert all(connection.is_idle() for connection in pool.connections)
    return len(pool.connections)


def own_connections(port: int) -> int:
    """Count our client sockets that are connected to the upstream."""
    sockets = psutil.Process().net_connections("tcp")
    open_ones = [s.raddr for s in sockets if s.status == psutil.CONN_ESTABLISHED]
    return sum(getattr(peer, "port", None) == port for peer in open_ones)
