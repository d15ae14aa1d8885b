from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import socket
import struct
from collections.abc import AsyncIterator, Callable

import aiohttp
import httpx
import pytest

from proxy.config import Settings
from proxy.errors import BadRequest, FirstByteTimeout, IdleTimeout, UpstreamBroken
from proxy.upstream import Upstream, UpstreamResponse
from tests.support.upstream import Reply, ScriptedUpstream, document

pytestmark = pytest.mark.anyio

EVENTS = b"".join(b'data: {"n": %d}\n\n' % number for number in range(40))


@pytest.fixture
async def client(upstream: ScriptedUpstream) -> AsyncIterator[Upstream]:
    """A client over the default transport."""
    running = Upstream(Settings.model_validate({"upstream": {"url": upstream.url}}))
    yield running
    await running.aclose()


@contextlib.asynccontextmanager
async def answering(
    *answers: list[bytes],
    reset: bool = False,
    stays: bool = False,
    settings: dict[str, float] | None = None,
) -> AsyncIterator[Upstream]:
    """A client of a server that answers each request with the next of these, write by write.

    Behind the last one it closes the connection, if it does not stay. `settings`: more of the
    client's `upstream`.
    """
    left = list(answers)
    serving: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(asyncio.current_task())
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while left:
                await reader.readuntil(b"\r\n\r\n{}")
                for piece in left.pop(0):
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0.01)  # the kernel tells nobody where a read ends
            if stays:
                await reader.read()
        if reset:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    where = {"url": f"http://127.0.0.1:{port}"}
    upstream = Upstream(Settings.model_validate({"upstream": where | (settings or {})}))
    try:
        yield upstream
    finally:
        await upstream.aclose()
        server.close()
        await asyncio.gather(*filter(None, serving))


async def ask(client: Upstream, body: bytes = b"{}") -> UpstreamResponse:
    return await client.open("POST", b"/chat/completions", b"", [], body)


async def read(response: UpstreamResponse) -> bytes:
    try:
        return b"".join([piece async for piece in response])
    finally:
        await response.aclose()


async def until_it_breaks(response: UpstreamResponse) -> bytes:
    """Give what comes in front of the break, which must come."""
    got = b""
    try:
        while piece := await response.read():
            got += piece
    except UpstreamBroken:
        return got
    finally:
        await response.aclose()
    pytest.fail("the answer ended as if it were complete")


@pytest.mark.parametrize("terminate", ["abort", "reset"])
async def test_what_came_before_a_break_is_handed_out(
    upstream: ScriptedUpstream, client: Upstream, terminate: str
) -> None:
    """Bytes and the break may come within one step of the loop: not one of them is lost."""
    reply = Reply(EVENTS, terminate=terminate)  # type: ignore[arg-type]
    upstream.answer = lambda _: reply
    for _ in range(30):
        response = await ask(client)
        got = await until_it_breaks(response)
        # A reset may overtake what the kernel has not handed over yet; an orderly close may not.
        assert got == EVENTS if terminate == "abort" else EVENTS.startswith(got)


async def test_a_reader_that_comes_late_gets_what_came_before_the_break(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """The body is read only after the connection is known to be broken."""
    upstream.script(Reply(EVENTS, terminate="abort"))
    response = await ask(client)
    await upstream.unconnected.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert await until_it_breaks(response) == EVENTS


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.0 200 OK\r\n\r\n"])
async def test_a_reset_is_no_end_of_a_body_without_a_length(head: bytes) -> None:
    """Only an orderly close delimits it; after a reset the answer must not look complete."""
    async with answering([head, b"data: 1\n\n"], reset=True) as client:
        async with asyncio.timeout(5):
            assert await until_it_breaks(await ask(client)) == b"data: 1\n\n"


async def test_an_orderly_close_is_the_end_of_a_body_without_a_length() -> None:
    """The same connection, closed as it should be: nothing is broken."""
    async with answering([b"HTTP/1.1 200 OK\r\n\r\n", b"data: 1\n\n"]) as client:
        assert await read(await ask(client)) == b"data: 1\n\n"


@pytest.mark.parametrize("wrong", [b"ZZ\r\n", b"-1\r\n", b"3\r\nabcd\r\n", b"\r\n", b"3\nabc\n"])
async def test_wrong_framing_in_mid_answer_is_a_break(wrong: bytes) -> None:
    """It ends the answer at once, however patient the proxy is with a silent upstream."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with answering([head, b"9\r\ndata: 1\n\n\r\n", wrong], stays=True) as client:
        async with asyncio.timeout(5):
            assert (await until_it_breaks(await ask(client))).startswith(b"data: 1\n\n")


@pytest.mark.parametrize(
    "wrong",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc",
        b"HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_what_was_answered_wrongly_is_not_asked_again(wrong: bytes) -> None:
    """A reused connection that was closed is replaced; one that says something is not."""
    good = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    async with answering([good], [wrong], [good]) as client:
        assert await read(await ask(client)) == b"ok"
        with pytest.raises(UpstreamBroken, match="before it answered"):
            await ask(client)
        assert await read(await ask(client)) == b"ok"  # the third answer, so there was no fourth


async def test_three_hundred_answers_at_once(upstream: ScriptedUpstream, client: Upstream) -> None:
    """No pool holds requests back: each is answered while all others are still under way."""
    gate = asyncio.Event()
    upstream.answer = lambda _: Reply(b"one two", gates={4: gate})
    responses = await asyncio.gather(*(ask(client) for _ in range(300)))
    assert len(upstream.requests) == 300
    gate.set()
    assert await asyncio.gather(*(read(each) for each in responses)) == [b"one two"] * 300


async def test_requests_go_on_under_cancellation(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Of 200 requests at once half are cancelled anywhere; the others and later ones are whole."""
    rng = random.Random(7)
    upstream.answer = lambda _: Reply(EVENTS, splits=tuple(range(1, len(EVENTS), 31)))

    async def left(steps: int) -> None:
        task = asyncio.ensure_future(whole())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def whole() -> None:
        assert await read(await ask(client)) == EVENTS

    jobs = [left(rng.randrange(400)) if n % 2 else whole() for n in range(200)]
    await asyncio.gather(*jobs)
    await asyncio.gather(*(whole() for _ in range(20)))


async def test_a_large_body_arrives_whole(upstream: ScriptedUpstream, client: Upstream) -> None:
    """It is written in pieces, with its length in front."""
    upstream.script(document({}))
    body = random.Random(1).randbytes(3_000_001)
    await read(await ask(client, body))
    assert upstream.requests[0].body == body
    assert upstream.requests[0].header("content-length") == str(len(body))


async def test_an_upstream_that_takes_no_body_is_given_up() -> None:
    """The kernel takes the connection, and nobody reads: the request ends, and says why."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        limits = {"connectTimeout": 0.1, "firstByteTimeout": 0.1, "idleTimeout": 0.1}
        client = Upstream(Settings.model_validate({"upstream": {"url": url, **limits}}))
        with pytest.raises(FirstByteTimeout, match="did not begin its answer"):
            await ask(client, b"x" * 30_000_000)
        await client.aclose()


async def test_long_fields_pass(upstream: ScriptedUpstream, client: Upstream) -> None:
    """Some upstreams put whole policies into one field of a head."""
    upstream.script(Reply(b"ok", headers=(("x-policy", "p" * 30_000),)))
    response = await ask(client)
    assert dict(response.headers)[b"x-policy"] == b"p" * 30_000
    await read(response)


@pytest.mark.parametrize("path", [b"/a#b", b"/%zz", b"//x", b"/../x", b"/a/%2e%2e/x", b"/a;b"])
async def test_odd_paths_go_out_byte_for_byte(
    upstream: ScriptedUpstream, client: Upstream, path: bytes
) -> None:
    """What aiohttp would write in another way takes the plain transport."""
    upstream.script(document({}))
    await read(await client.open("GET", path, b"q=%7e#%", []))
    assert upstream.requests[0].target.encode("latin-1") == b"/v1" + path + b"?q=%7e#%"


@pytest.mark.parametrize("path", [b"/a b", b"/\xff", "/\u00e4".encode(), b"/a\tb"])
async def test_paths_that_no_request_line_can_hold_are_refused(
    client: Upstream, path: bytes
) -> None:
    """Nothing is sent, and the client is told."""
    with pytest.raises(BadRequest, match="cannot be passed on"):
        await client.open("GET", path, b"", [])


async def test_nothing_of_the_request_is_kept_while_its_answer_is_read(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """A thousand answers that are waited for would keep a thousand requests with their heads."""
    whole = EVENTS * 3
    upstream.script(Reply(whole, gates={len(EVENTS): (gate := asyncio.Event())}))
    response = await client.open("POST", b"/chat/completions", b"", [(b"x-mark", b"a b c")], b"{}")
    got = await response.read()
    gc.collect()
    kept = {type(each) for each in gc.get_objects()}
    of_requests = {aiohttp.ClientRequest, aiohttp.RequestInfo, httpx.Request, httpx.Response}
    assert not kept & of_requests
    gate.set()
    assert got + await read(response) == whole


def gather(client_got: list[bytes], enough: int) -> Callable[[bytes], bool | None]:
    """Take pieces until there are so many bytes, or no more."""

    def take(piece: bytes) -> bool | None:
        client_got.append(piece)
        return True if not piece or sum(map(len, client_got)) >= enough else None

    return take


async def test_pieces_are_handed_over_until_one_is_answered(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """What comes behind that one waits for the next call; the end comes as an empty piece."""
    upstream.script(Reply(EVENTS, splits=tuple(range(50, len(EVENTS), 50)), delay=0.001))
    response = await ask(client)
    got: list[bytes] = []
    assert await response.until(gather(got, 300))
    first = b"".join(got)
    assert EVENTS.startswith(first)
    assert len(first) >= 300
    assert await response.until(gather(got, 1 << 20))
    assert b"".join(got) == EVENTS
    assert got[-1] == b""
    await response.aclose()


async def test_no_task_is_woken_for_what_is_taken(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """The task that waits runs once, however many pieces there are."""
    upstream.script(Reply(EVENTS, splits=tuple(range(50, len(EVENTS), 50)), delay=0.001))
    response = await ask(client)
    me = asyncio.current_task()
    callers = set[object]()

    def take(piece: bytes) -> bool | None:
        callers.add(asyncio.current_task())
        return None if piece else True

    assert await response.until(take)
    assert callers <= {None, me}
    assert None in callers
    await response.aclose()


async def test_a_fault_of_the_taker_is_raised_where_the_body_is_waited_for(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Of the first piece or a later one; the connection goes on to be closed as ever."""
    for many in (1, 3):
        left = many

        def take(_piece: bytes) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise LookupError("mine")

        upstream.script(Reply(EVENTS, splits=(50, 100, 150), delay=0.005))
        response = await ask(client)
        with pytest.raises(LookupError, match="mine"):
            await response.until(take)
        await response.aclose()


@pytest.mark.parametrize("terminate", ["abort", "reset"])
async def test_a_break_is_raised_behind_what_was_taken(
    upstream: ScriptedUpstream, client: Upstream, terminate: str
) -> None:
    """Pieces first, the break behind them."""
    upstream.script(Reply(EVENTS, terminate=terminate))  # type: ignore[arg-type]
    response = await ask(client)
    got: list[bytes] = []
    with pytest.raises(UpstreamBroken):
        await response.until(gather(got, 1 << 20))
    assert b"" not in got
    assert EVENTS.startswith(b"".join(got))
    await response.aclose()


async def test_silence_counts_from_the_last_piece(upstream: ScriptedUpstream) -> None:
    """An answer may take longer than the silence that is allowed within it."""
    settings = {"upstream": {"url": upstream.url, "idleTimeout": 0.4}}
    client = Upstream(Settings.model_validate(settings))
    upstream.script(Reply(EVENTS, splits=(100, 200, 300), delay=0.25, terminate="stall"))
    response = await ask(client)
    got: list[bytes] = []
    times: list[float] = []
    loop = asyncio.get_running_loop()

    def take(piece: bytes) -> None:
        got.append(piece)
        times.append(loop.time())

    with pytest.raises(IdleTimeout):
        await response.until(take)
    assert b"".join(got) == EVENTS
    assert times[-1] - times[0] > 0.4
    assert loop.time() - times[-1] >= 0.35
    await response.aclose()
    await client.aclose()


async def drained(response: UpstreamResponse, pauses: int, seconds: float) -> bytes:
    """Read to the end or the next fault, and let so much time pass behind the first pieces."""
    got = bytearray()
    with contextlib.suppress(IdleTimeout):
        while piece := await response.until(bytes):
            got += piece
            if pauses:
                pauses -= 1
                await asyncio.sleep(seconds)
    await response.aclose()
    return bytes(got)


@pytest.mark.parametrize("size", [1, 7, 4096])
@pytest.mark.parametrize("last", [b"0\r\n\r\n", b""], ids=["ends", "stalls"])
async def test_time_in_which_we_do_not_read_is_no_silence(size: int, last: bytes) -> None:
    """However many of aiohttp's pauses one read of the upstream's holds, and until it stalls."""
    chunk = b"%x\r\n%s\r\n" % (size, b"x" * size)
    count = max(600, 360_000 // len(chunk))
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    settings = {"idleTimeout": 0.2}
    async with answering([head, chunk * count + last], stays=True, settings=settings) as client:
        response = await ask(client)
        got = await drained(response, 3, 0.35)
    assert got == b"x" * (size * count)


async def test_the_client_that_is_closed_ends_who_waits(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Nobody waits for ever on a connection that is gone."""
    upstream.script(Reply(EVENTS, terminate="stall"))
    response = await ask(client)
    got = bytearray()
    came = asyncio.Event()

    def take(piece: bytes) -> None:
        got.extend(piece)
        if got == EVENTS:
            came.set()

    waiting = asyncio.ensure_future(response.until(take))
    await came.wait()
    await client.aclose()
    with pytest.raises(UpstreamBroken):
        await asyncio.wait_for(waiting, 5)
    await response.aclose()


async def test_a_body_that_is_aborted_is_closed_at_once(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Without waiting for anything; a whole one's connection is kept."""
    upstream.script(Reply(EVENTS, terminate="stall"), Reply(EVENTS))
    response = await ask(client)
    assert await response.until(gather([], 10))
    response.abort()
    exchange = await upstream.exchange(0)
    await asyncio.wait_for(exchange.closed.wait(), 5)
    await response.aclose()
    whole = await ask(client)
    assert await whole.until(gather([], 1 << 20))
    whole.abort()
    await whole.aclose()
    assert (await upstream.exchange(1)).closed_at is None


async def test_an_abort_reaches_the_other_side_in_the_same_step() -> None:
    """The event loop, which closes sockets later, is not asked."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        client = Upstream(Settings.model_validate({"upstream": {"url": url}}))
        asking = asyncio.ensure_future(ask(client))
        peer, _ = await asyncio.to_thread(listening.accept)
        with peer:
            assert await asyncio.to_thread(peer.recv, 4096)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
            response = await asking
            response.abort()
            peer.settimeout(5)
            assert peer.recv(4096) == b""
        await response.aclose()
        await client.aclose()
