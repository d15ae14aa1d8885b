"""What serves a connection, where it differs from uvicorn's own."""

from __future__ import annotations

import gc
import weakref

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from proxy.client import LEAVING, WRITING, until_client_leaves
from proxy.connection import Signal
from proxy.server import serving

pytestmark = pytest.mark.anyio


async def test_signal_wakes_all_that_wait_and_those_that_come_later() -> None:
    """It is an event like any other."""
    signal = Signal()
    woken: list[int] = []

    async def wait(number: int) -> None:
        assert await signal.wait()
        woken.append(number)

    async with anyio.create_task_group() as group:
        for number in range(3):
            group.start_soon(wait, number)
        await anyio.wait_all_tasks_blocked()
        assert (woken, signal.is_set(), repr(signal)) == ([], False, "Signal(unset)")
        signal.set()
        signal.set()
    assert (sorted(woken), repr(signal)) == ([0, 1, 2], "Signal(set)")
    await wait(3)
    signal.clear()
    assert not signal.is_set()
    with anyio.move_on_after(0) as scope:
        await signal.wait()
    assert scope.cancelled_caught


async def test_signal_forgets_who_gave_up() -> None:
    """A cancelled waiter is neither woken nor kept."""
    signal = Signal()
    async with anyio.create_task_group() as group:
        group.start_soon(signal.wait)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    signal.set()
    assert signal._waiting == []


async def test_pipelined_requests_are_answered_in_order() -> None:
    """Those that came before the first was answered wait for it."""

    async def echo(request: Request) -> PlainTextResponse:
        return PlainTextResponse(await request.body())

    app = Starlette(routes=[Route("/", echo, methods=["POST"])])
    request = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n%s\r\n%d"
    sent = b"".join(request % (b"", number) for number in range(4))
    sent += request % (b"connection: close\r\n", 4)
    got = b""
    async with serving(app) as origin:
        port = int(origin.rpartition(":")[2])
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(sent)
            with anyio.fail_after(10):
                async for piece in stream:
                    got += piece
    bodies = [answer.partition(b"\r\n\r\n")[2] for answer in got.split(b"HTTP/1.1 200 OK")[1:]]
    assert bodies == [b"%d" % number for number in range(5)]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("more", ["", "connection: keep-alive\r\n"], ids=["plain", "keep-alive"])
@pytest.mark.parametrize("path", ["/streamed", "/sized"])
async def test_a_client_of_http_1_0_gets_no_chunks(path: str, more: str, method: str) -> None:
    """It would take their sizes for text; the answer ends with the connection."""

    async def streamed(_request: Request) -> StreamingResponse:
        return StreamingResponse(iter([b"one ", b"", b"two"]))

    async def sized(_request: Request) -> PlainTextResponse:
        return PlainTextResponse(b"one two")

    app = Starlette(routes=[Route("/streamed", streamed), Route("/sized", sized)])
    got = b""
    async with serving(app) as origin:
        port = int(origin.rpartition(":")[2])
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(f"{method} {path} HTTP/1.0\r\n{more}\r\n".encode())
            with anyio.fail_after(10):
                async for piece in stream:
                    got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    assert body == (b"one two" if method == "GET" else b"")
    assert b"transfer-encoding" not in head.lower()
    assert b"connection: close" in head.lower()
    assert (b"content-length: 7" in head.lower()) == (path == "/sized")


@pytest.mark.parametrize("size", [1, 1_000_000], ids=["small", "more than is read ahead"])
async def test_a_client_that_leaves_is_noticed_without_a_task_that_listens(size: int) -> None:
    """Also where reading was paused for the size of the body, and where it has left before."""
    started, ended = anyio.Event(), anyio.Event()
    outcomes: list[str] = []

    async def work(name: str) -> None:
        started.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            outcomes.append(name)
            raise

    async def app(scope: Scope, receive: Receive, _send: Send) -> None:
        await Request(scope, receive).body()
        await until_client_leaves(receive, work("while it is there"), scope[LEAVING])
        await until_client_leaves(receive, work("behind its end"), scope[LEAVING])
        ended.set()

    async with serving(app) as origin:
        port = int(origin.rpartition(":")[2])
        with anyio.fail_after(10):
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                head = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % size
                await stream.send(head + bytes(size))
                await started.wait()
                assert outcomes == []
            await ended.wait()
    assert outcomes == ["while it is there", "behind its end"]


PIECE = b"x" * 10_000


@pytest.mark.parametrize("chunked", [True, False])
async def test_pieces_are_written_straight_where_nothing_stands_in_the_way(
    *, chunked: bool
) -> None:
    """Not before the head, to a client that does not read, or without chunks."""
    head = [] if chunked else [(b"content-length", b"3")]
    many = 0

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        nonlocal many
        assert scope[WRITING]() is None
        await send({"type": "http.response.start", "status": 200, "headers": head})
        write = scope[WRITING]()
        while write is not None and write(PIECE):
            many += 1
        await send({"type": "http.response.body", "body": b"end", "more_body": False})

    request = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    got = b""
    async with serving(app) as origin:
        port = int(origin.rpartition(":")[2])
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(request)
            with anyio.fail_after(10):
                async for piece in stream:
                    got += piece
    assert bool(many) == chunked
    pieces = [*[PIECE] * many, b"end", b""]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    assert got.partition(b"\r\n\r\n")[2] == (chunks if chunked else b"end")


async def test_a_request_is_let_go_when_it_was_answered() -> None:
    """What writes for it keeps neither it nor its scope."""
    gone: list[weakref.ref[object]] = []

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        gone.append(weakref.ref(scope[WRITING]))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    gc.disable()
    try:
        async with serving(app) as origin, httpx.AsyncClient() as http:
            for _ in range(2):
                await http.get(origin)
            assert gone[0]() is None
    finally:
        gc.enable()
