"""The connection to the API behind the proxy; the only user of the HTTP client.

HTTP/1.1 only, so that closing a response really cancels it: the socket is gone, in every phase,
whatever happens to the task that asked. Redirects, cookies and environment proxies do not exist
here, since requests go straight to a transport, or onto one of its connections.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

import anyio
import httpx

from proxy import codings
from proxy.aiohttp_direct import Direct, Try
from proxy.aiohttp_transport import AiohttpTransport, Connection, PushedBody
from proxy.config import Settings, without_credentials
from proxy.errors import (
    BadRequest,
    ConnectFailed,
    FirstByteTimeout,
    IdleTimeout,
    UpstreamBroken,
    UpstreamFault,
)
from proxy.headers import Field, first, to_upstream

_KEEP_IDLE_CONNECTIONS = 30.0
_Result = TypeVar("_Result")
_METHODS_WITH_LENGTH = frozenset({"POST", "PUT", "PATCH"})


class UpstreamResponse:
    """An answer whose head has come. Close it in a `finally`; iterating does not close it.

    `headers`: every field as received. Reading and iterating give the raw bytes of the body as
    they come, without undoing any content coding; both raise IdleTimeout or UpstreamBroken.
    """

    def __init__(
        self,
        owner: Upstream,
        status: int,
        headers: Sequence[Field],
        stream: _Stream,
        network: _Network,
    ) -> None:
        self.status = status
        self.headers: tuple[Field, ...] = tuple(headers)
        self._owner = owner
        self._stream = stream
        self._pieces: AsyncIterator[bytes] | None = None
        self._codings = codings.codings(self.headers)
        self._plain: AsyncIterator[bytes] | None = None
        self._network = network
        self._complete = False
        self._closed = False

    @property
    def decodable(self) -> bool:
        """Whether every content coding of this answer is known."""
        return codings.decodable(self._codings)

    async def read(self) -> bytes:
        """Give the next piece of the body as it came; empty at its end."""
        if self._pieces is None:
            self._pieces = aiter(self._stream)
        try:
            async for piece in self._pieces:
                if piece:
                    return piece
        except httpx.TransportError as problem:
            raise self._owner.fault_in_body(problem) from None
        self._complete = True
        return b""

    async def until(self, take: Callable[[bytes], _Result | None]) -> _Result:
        """Hand each piece to `take`, decoded and empty at the end, until it says something.

        Answers with that, and raises what `take` raises. It may be called outside of the task that
        waits here, so it must not wait itself, nor ask which task runs.
        """
        stream = self._stream
        if self._codings or not isinstance(stream, PushedBody):
            while (result := take(await self.read_decoded())) is None:
                pass
            return result
        try:
            result = await stream.until(take)
        except httpx.TransportError as problem:
            raise self._owner.fault_in_body(problem) from None
        self._complete = stream.ended
        return result

    async def read_decoded(self) -> bytes:
        """Give the next piece with its content coding undone; raises UpstreamBroken on damage."""
        if not self._codings:
            return await self.read()
        if self._plain is None:
            self._plain = self._decoded()
        return await anext(self._plain, b"")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self.read():
            yield piece

    async def _decoded(self) -> AsyncIterator[bytes]:
        chain = codings.Chain(self._codings)
        while piece := await self.read():
            try:
                for plain in chain.decode(piece):
                    if plain:
                        yield plain
            except codings.UndecodableBody:
                raise UpstreamBroken(
                    "the upstream's answer is damaged: it is not what its Content-Encoding says"
                ) from None

    def abort(self) -> None:
        """Close the socket at once, where that needs no waiting; `aclose` is still to be called."""
        if not self._complete and isinstance(self._network, Connection):
            self._network.abort()

    async def aclose(self) -> None:
        """Give the connection back if the body is complete, else close its socket at once.

        Idempotent; done even if the calling task is being cancelled.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if not self._complete:
                # Aborts the transport before it first waits, so no cancellation can precede it.
                await self._network.aclose()
        finally:
            if isinstance(self._stream, PushedBody):
                self._stream.close()
            else:
                await self._owner.see_through(self._stream.aclose())


class _AsyncBody(httpx.AsyncByteStream):
    """A request body that is read while it is sent; it must be as long as was announced."""

    def __init__(self, pieces: AsyncIterator[bytes], announced: bytes | None) -> None:
        self._pieces = pieces
        self._left = None if announced is None else int(announced)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            if self._left is not None:
                self._left -= len(piece)
                self._check(self._left >= 0)
            yield piece
        self._check(not self._left)

    def _check(self, fits: bool) -> None:  # noqa: FBT001 - a condition, like assert's
        if not fits:
            raise BadRequest("the request body is not as long as its Content-Length header says")


class _Opening:
    """One request until its answer's head has come, in a task of its own.

    httpx's pool loses a connection if a plain task cancellation meets one of its locks, but not
    if a cancel scope does; so it runs here, and only ever sees the scope.
    """

    def __init__(self, told: Try) -> None:
        self.scope = anyio.CancelScope()
        self.told = told
        told.reused = True

    async def trace(self, event: str, _info: object) -> None:
        if event == "connection.connect_tcp.started":
            self.told.reused = False

    async def run(
        self, owner: Upstream, transport: httpx.AsyncBaseTransport, request: httpx.Request
    ) -> UpstreamResponse | None:
        with self.scope:
            response = _response(owner, await transport.handle_async_request(request))
            if not self.scope.cancel_called:
                return response
            # The head came in the very step in which the wait for it was given up.
            with anyio.CancelScope(shield=True):
                await response.aclose()
        return None


class Upstream:
    """Opens requests to the one API of the settings. Closed once, by `aclose`."""

    def __init__(
        self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        parts = urlsplit(settings.upstream_url)
        self.shown = without_credentials(settings.upstream_url)
        self._timeouts = settings.upstream
        self._origin = httpx.URL(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
        self._base = parts.path.encode()
        self._host = parts.netloc.rpartition("@")[2].encode(
            "idna" if not parts.netloc.isascii() else "ascii"
        )
        self._login = _basic_login(parts.username, parts.password)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._transport = transport or _transport(settings.upstream.transport)
        self._direct = None
        if isinstance(self._transport, AiohttpTransport):
            self._direct = Direct(self._transport, self._origin, self._timeouts.connect_timeout)

    async def open(
        self,
        method: str,
        path: bytes,
        query: bytes,
        headers: Sequence[Field],
        body: bytes | AsyncIterator[bytes] = b"",
    ) -> UpstreamResponse:
        """Send a request and wait for the head of its answer.

        `path` (with its leading slash) and `query` are appended to the base URL byte for byte.
        `headers` are the client's; what must not travel is dropped here. Raises ConnectFailed,
        FirstByteTimeout, UpstreamBroken, BadRequest, or what `body` raises. Cancelling closes
        the socket.
        """
        try:
            return await self._send(method, path, query, headers, body)
        except _StaleConnection as stale:
            if not isinstance(body, bytes):
                raise stale.fault from None
        # RFC 9112 section 9.3.1: the upstream closed an idle connection just as we reused it.
        try:
            return await self._send(method, path, query, headers, body)
        except _StaleConnection as stale:  # another such; nothing is sent a third time
            raise stale.fault from None

    async def see_through(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for `work`, which goes on to its end even if the waiting is cancelled."""
        await asyncio.shield(self._spawn(work))

    def fault_in_body(self, problem: httpx.TransportError) -> UpstreamFault:
        """Say what a transport error means once the answer has begun."""
        if isinstance(problem, httpx.TimeoutException):
            return IdleTimeout(
                f"the upstream {self.shown} sent nothing for {self._timeouts.idle_timeout:g} s in "
                "mid-answer; raise upstream.idleTimeout if it may be silent for so long"
            )
        return UpstreamBroken(
            f"the upstream {self.shown} broke off in mid-answer ({type(problem).__name__})"
        )

    async def aclose(self) -> None:
        """Close every connection and wait for what is still closing."""
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._transport.aclose()

    async def _send(
        self,
        method: str,
        path: bytes,
        query: bytes,
        headers: Sequence[Field],
        body: bytes | AsyncIterator[bytes],
    ) -> UpstreamResponse:
        told = Try()
        timeouts = {
            "connect": self._timeouts.connect_timeout,
            "read": self._timeouts.first_byte_timeout,
            "write": self._timeouts.idle_timeout,
        }
        fields = self._fields(method, headers, body)
        target = self._base + path + (b"?" + query if query else b"")
        response: UpstreamResponse | None = None
        try:
            if self._direct is not None and method == "POST" and isinstance(body, bytes):
                head = await self._direct.send(target, fields, body, timeouts, told)
                if head is not None:
                    response = UpstreamResponse(self, *head)
            if response is None:
                opening = _Opening(told)
                request = httpx.Request(
                    method,
                    self._origin,
                    headers=fields,
                    stream=_stream_of(body, headers),
                    extensions={"timeout": timeouts, "target": target, "trace": opening.trace},
                )
                response = await self._cancellable(opening, request)
        except httpx.TransportError as problem:
            fault = self._fault_in_opening(problem)
            if told.reused and isinstance(problem, httpx.RemoteProtocolError | httpx.ReadError):
                raise _StaleConnection(fault) from None
            raise fault from None
        # The transport reads this mapping again when the body is asked for.
        timeouts["read"] = self._timeouts.idle_timeout
        return response

    async def _cancellable(self, opening: _Opening, request: httpx.Request) -> UpstreamResponse:
        task = self._spawn(opening.run(self, self._transport, request))
        try:
            response = await asyncio.shield(task)
        except asyncio.CancelledError:
            opening.scope.cancel()
            if task.done() and not task.cancelled() and task.exception() is None:
                orphan = task.result()
                if orphan is not None:
                    await orphan.aclose()
            raise
        if response is None:
            raise asyncio.CancelledError
        return response

    def _fields(
        self, method: str, headers: Sequence[Field], body: bytes | AsyncIterator[bytes]
    ) -> list[Field]:
        fields = to_upstream(headers, self._host)
        if self._login and first(fields, b"authorization") is None:
            fields.append((b"Authorization", self._login))
        length = first(headers, b"content-length")
        if isinstance(body, bytes):
            if body or length is not None or method in _METHODS_WITH_LENGTH:
                fields.append((b"Content-Length", str(len(body)).encode()))
        elif length is not None:
            fields.append((b"Content-Length", length))
        else:
            fields.append((b"Transfer-Encoding", b"chunked"))
        return fields

    def _fault_in_opening(self, problem: httpx.TransportError) -> UpstreamFault | BadRequest:
        match problem:
            case httpx.ConnectTimeout():
                return ConnectFailed(
                    f"no connection to the upstream {self.shown} within "
                    f"{self._timeouts.connect_timeout:g} s; check upstream.url, or raise "
                    "upstream.connectTimeout"
                )
            case httpx.ConnectError():
                return ConnectFailed(
                    f"no connection to the upstream {self.shown} ({problem}); "
                    "check upstream.url and that the API is running"
                )
            case httpx.TimeoutException():
                return FirstByteTimeout(
                    f"the upstream {self.shown} did not begin its answer within "
                    f"{self._timeouts.first_byte_timeout:g} s; raise upstream.firstByteTimeout "
                    "if it may take longer"
                )
            case httpx.LocalProtocolError():
                return BadRequest(f"the request cannot be passed on: {problem}")
            case _:
                return UpstreamBroken(
                    f"the upstream {self.shown} broke off before it answered "
                    f"({type(problem).__name__})"
                )

    def _spawn(self, work: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Whoever waited has it; if nobody waits any more, nobody wants to know.
            task.exception()


def _transport(name: Literal["aiohttp", "httpx"]) -> httpx.AsyncBaseTransport:
    tls = httpx.create_ssl_context(trust_env=False)
    plain = httpx.AsyncHTTPTransport(
        verify=tls,
        trust_env=False,
        http1=True,
        http2=False,
        limits=httpx.Limits(
            max_connections=None,
            max_keepalive_connections=None,
            keepalive_expiry=_KEEP_IDLE_CONNECTIONS,
        ),
    )
    return plain if name == "httpx" else AiohttpTransport(plain, tls, _KEEP_IDLE_CONNECTIONS)


class _StaleConnection(Exception):  # noqa: N818 - a state of the connection, named as one
    """A reused connection was closed under the request, before any byte of an answer."""

    def __init__(self, fault: UpstreamFault | BadRequest) -> None:
        super().__init__(fault.message)
        self.fault = fault


def _stream_of(
    body: bytes | AsyncIterator[bytes], headers: Sequence[Field]
) -> httpx.AsyncByteStream:
    if isinstance(body, bytes):
        return httpx.ByteStream(body)
    return _AsyncBody(body, first(headers, b"content-length"))


class _Stream(Protocol):
    def __aiter__(self) -> AsyncIterator[bytes]: ...
    def aclose(self) -> Coroutine[Any, Any, None]: ...


class _Network(Protocol):
    def aclose(self) -> Coroutine[Any, Any, None]: ...


def _response(owner: Upstream, response: httpx.Response) -> UpstreamResponse:
    stream, network = response.stream, response.extensions["network_stream"]
    assert isinstance(stream, httpx.AsyncByteStream)
    return UpstreamResponse(owner, response.status_code, response.headers.raw, stream, network)


def _basic_login(user: str | None, password: str | None) -> bytes | None:
    if user is None:
        return None
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return b"Basic " + base64.b64encode(pair.encode())
