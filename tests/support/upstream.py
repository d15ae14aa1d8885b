"""An upstream that plays scripted replies over real sockets, byte for byte as scripted.

It runs in the test's own event loop and is gated by `asyncio.Event`s, so that no test sleeps.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import itertools
import json
import socket
import struct
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal, Self

SSE_HEADERS = (("content-type", "text/event-stream"),)
JSON_HEADERS = (("content-type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Request:
    """What the upstream was asked: fields in order and in the case in which they came."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        """Find the first field called `name`, in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def names(self) -> set[str]:
        return {key.lower() for key, _ in self.headers}


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. Offsets count bytes of `body`; times are seconds.

    `gates`: wait for the event before the byte at that offset (-1: before the status line;
    `len(body)`: before the ending). `terminate`: `abort` closes without the framing's end,
    `reset` sends a TCP reset, `stall` sends nothing more until the client leaves or `stall`
    seconds have passed, then ends cleanly.
    """

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = SSE_HEADERS
    framing: Literal["chunked", "content-length", "close"] = "chunked"
    splits: tuple[int, ...] | Literal["every_byte"] = ()
    delay: float = 0.0
    pauses: Mapping[int, float] = field(default_factory=dict)
    gates: Mapping[int, asyncio.Event] = field(default_factory=dict)
    header_delay: float = 0.0
    first_byte_delay: float = 0.0
    gzip: bool = False
    trailers: tuple[tuple[str, str], ...] = ()
    terminate: Literal["clean", "stall", "abort", "reset"] = "clean"
    stall: float = 30.0

    def pieces(self) -> list[tuple[int, bytes]]:
        """Cut the body as it is written, with the offset of each piece."""
        size = len(self.body)
        wanted = range(1, size) if self.splits == "every_byte" else self.splits
        cuts = {*wanted, *self.pauses, *self.gates}
        edges = [0, *sorted(cut for cut in cuts if 0 < cut < size), size]
        return [(at, self.body[at:end]) for at, end in itertools.pairwise(edges) if end > at]


def document(value: object, status: int = 200, **more: Any) -> Reply:
    """Script a JSON answer with a content length."""
    return Reply(json.dumps(value).encode(), status, JSON_HEADERS, framing="content-length", **more)


@dataclass(slots=True, eq=False)
class Exchange:
    """One request with what became of its answer.

    `sent`: body bytes handed to the socket (plain bytes, before compression). `closed`: the
    client closed the connection before the answer was over; `finished`: the answer is over, in
    whichever way `outcome` says. `closed_at`: event-loop time.
    """

    request: Request
    reply: Reply
    sent: int = 0
    outcome: Literal["under way", "complete", "client closed", "as scripted"] = "under way"
    head_sent: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    closed_at: float | None = None


class _ClientGone(Exception):  # noqa: N818 - a state of the connection
    pass


class _Connection:
    """One client connection: a reader that always reads, so that a close is seen at once."""

    def __init__(
        self, owner: ScriptedUpstream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.owner, self.reader, self.writer = owner, reader, writer
        self.buffer = bytearray()
        self.gone = asyncio.Event()
        self.more = asyncio.Event()

    async def read_always(self) -> None:
        with contextlib.suppress(ConnectionError):
            while piece := await self.reader.read(65536):
                self.buffer += piece
                self.more.set()
        self.gone.set()
        self.more.set()

    async def take(self, count: int) -> bytes:
        while len(self.buffer) < count:
            await self._grown()
        taken = bytes(self.buffer[:count])
        del self.buffer[:count]
        return taken

    async def take_to(self, mark: bytes) -> bytes:
        while mark not in self.buffer:
            await self._grown()
        return (await self.take(self.buffer.index(mark) + len(mark)))[: -len(mark)]

    async def _grown(self) -> None:
        if self.gone.is_set():
            raise _ClientGone
        self.more.clear()
        await self.more.wait()

    async def request(self) -> tuple[Request, bool]:
        head = (await self.take_to(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        method, target, version = first.split(" ", 2)
        pairs = [line.partition(":") for line in lines]
        headers = tuple((name.strip(), value.strip()) for name, _, value in pairs)
        lowered = {name.lower(): value for name, value in headers}
        body = b""
        if "chunked" in lowered.get("transfer-encoding", "").lower():
            while size := int((await self.take_to(b"\r\n")).split(b";")[0], 16):
                body += await self.take(size)
                await self.take(2)
            await self.take_to(b"\r\n")
        elif "content-length" in lowered:
            body = await self.take(int(lowered["content-length"]))
        stays = version == "HTTP/1.1" and lowered.get("connection", "").lower() != "close"
        return Request(method, target, headers, body), stays

    async def wait(self, seconds: float) -> None:
        """Let time pass, unless the client leaves."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.gone.wait(), seconds)
        self.check()

    async def gate(self, event: asyncio.Event) -> None:
        """Wait for the event, unless the client leaves."""
        async with asyncio.TaskGroup() as group:
            opened = group.create_task(event.wait())
            left = group.create_task(self.gone.wait())
            await asyncio.wait({opened, left}, return_when=asyncio.FIRST_COMPLETED)
            opened.cancel()
            left.cancel()
        self.check()

    def check(self) -> None:
        if self.gone.is_set():
            raise _ClientGone

    async def write(self, data: bytes) -> None:
        self.check()
        self.writer.write(data)
        await self.writer.drain()

    async def play(self, exchange: Exchange) -> bool:
        """Write the reply; answers whether the connection stays open."""
        reply = exchange.reply
        if -1 in reply.gates:
            await self.gate(reply.gates[-1])
        if reply.header_delay:
            await self.wait(reply.header_delay)
        await self.write(_head(reply, exchange.request.method))
        exchange.head_sent.set()
        if exchange.request.method == "HEAD" or reply.status in {204, 304}:
            return reply.terminate == "clean"
        if reply.first_byte_delay:
            await self.wait(reply.first_byte_delay)
        packer = zlib.compressobj(6, zlib.DEFLATED, 31) if reply.gzip else None
        for number, (offset, piece) in enumerate(reply.pieces()):
            if offset in reply.gates:
                await self.gate(reply.gates[offset])
            pause = reply.pauses.get(offset, reply.delay if number else 0.0)
            if pause:
                await self.wait(pause)
            data = packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH) if packer else piece
            await self.write(_framed(reply, data))
            exchange.sent += len(piece)
            await asyncio.sleep(0)
        if len(reply.body) in reply.gates:
            await self.gate(reply.gates[len(reply.body)])
        return await self.end(reply, packer)

    async def end(self, reply: Reply, packer: Any) -> bool:
        if reply.terminate == "stall":
            await self.wait(reply.stall)
        if reply.terminate == "reset":
            sock = self.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()
        if reply.terminate in {"abort", "reset"}:
            return False
        tail = _framed(reply, packer.flush()) if packer else b""
        if reply.framing == "chunked":
            trailers = "".join(f"{name}: {value}\r\n" for name, value in reply.trailers)
            tail += b"0\r\n" + trailers.encode() + b"\r\n"
        await self.write(tail)
        return reply.framing != "close" and reply.terminate == "clean"


class ScriptedUpstream:
    """The upstream: replies by queue (`script`) or by `answer`, a function of the request."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.answer: Callable[[Request], Reply] | None = None
        self.connections = 0
        self.open_connections = 0
        self.unconnected = asyncio.Event()
        self._queue: deque[Reply] = deque()
        self._arrived = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL as a user would configure it."""
        return f"{self.origin}/v1"

    @property
    def requests(self) -> list[Request]:
        return [exchange.request for exchange in self.exchanges]

    def script(self, *replies: Reply) -> None:
        """Queue replies: one for each request to come, in order."""
        self._queue.extend(replies)

    async def exchange(self, number: int = 0) -> Exchange:
        """Wait until request `number` (from 0) has arrived."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.exchanges) > number)
        return self.exchanges[number]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self.drop_connections()
        await self._server.wait_closed()

    async def drop_connections(self) -> None:
        """Close every connection in whatever phase it is."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.open_connections += 1
        self.unconnected.clear()
        connection = _Connection(self, reader, writer)
        reading = asyncio.ensure_future(connection.read_always())
        try:
            with contextlib.suppress(_ClientGone, ConnectionError, asyncio.CancelledError):
                while await self._one(connection):
                    pass
        finally:
            self.open_connections -= 1
            if not self.open_connections:
                self.unconnected.set()
            self._tasks.discard(task)
            reading.cancel()
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _one(self, connection: _Connection) -> bool:
        request, stays = await connection.request()
        exchange = Exchange(request, self._reply_to(request))
        async with self._arrived:
            self.exchanges.append(exchange)
            self._arrived.notify_all()
        try:
            open_still = await connection.play(exchange)
        except (_ClientGone, ConnectionError):
            exchange.outcome = "client closed"
            exchange.closed_at = asyncio.get_running_loop().time()
            exchange.closed.set()
            raise
        else:
            clean = exchange.reply.terminate == "clean"
            exchange.outcome = "complete" if clean else "as scripted"
            return open_still and stays
        finally:
            exchange.finished.set()

    def _reply_to(self, request: Request) -> Reply:
        if self._queue:
            return self._queue.popleft()
        if self.answer is not None:
            return self.answer(request)
        return document({"error": {"message": "no reply is scripted", "code": "unscripted"}}, 599)


def _head(reply: Reply, method: str) -> bytes:
    fields = [*reply.headers]
    if reply.gzip:
        fields.append(("content-encoding", "gzip"))
    if reply.trailers:
        fields.append(("trailer", ", ".join(name for name, _ in reply.trailers)))
    bodyless = reply.status in {204, 304}
    if reply.framing == "content-length" and not bodyless:
        size = len(gzip.compress(reply.body)) if reply.gzip else len(reply.body)
        fields.append(("content-length", str(size)))
    elif reply.framing == "chunked" and not bodyless and method != "HEAD":
        fields.append(("transfer-encoding", "chunked"))
    elif reply.framing == "close":
        fields.append(("connection", "close"))
    known = {status.value: status.phrase for status in HTTPStatus}
    lines = [f"HTTP/1.1 {reply.status} {known.get(reply.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _framed(reply: Reply, data: bytes) -> bytes:
    if reply.framing != "chunked" or not data:
        return data
    return b"%x\r\n" % len(data) + data + b"\r\n"


@contextlib.asynccontextmanager
async def scripted(*replies: Reply) -> AsyncIterator[ScriptedUpstream]:
    """Run an upstream with these replies queued."""
    async with ScriptedUpstream() as upstream:
        upstream.script(*replies)
        yield upstream
