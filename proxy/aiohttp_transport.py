"""The fast transport under httpx's API: aiohttp's client, kept from adding anything of its own.

It parses in C and wakes a reader once a read, where httpx's own transport goes through four layers
of generators in Python. The package that offers the same (httpx-aiohttp) will not do for a proxy:
it forgets bytes that came right before a break, rewrites paths, keeps cookies, adds headers, and
caps connections at 100 where no cap was asked for.
"""

from __future__ import annotations

import asyncio
import functools
import re
import socket
import ssl
import typing
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    MutableMapping,
)
from contextlib import asynccontextmanager
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeVar

import aiohttp
import httpx
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import HttpProcessingError
from aiohttp.streams import EMPTY_PAYLOAD
from yarl import URL

from proxy.few import Few

_OWN_HEADERS = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")
_LONGEST_LINE = 64 * 1024  # of a head; upstreams put whole policies into one field
# How answers are read; of the buffer are the bytes read ahead of a client that is slow.
READING: Mapping[str, Any] = MappingProxyType(
    {
        "auto_decompress": False,
        "read_bufsize": 128 * 1024,
        "max_line_size": _LONGEST_LINE,
        "max_field_size": _LONGEST_LINE,
        "max_headers": 1024,
    }
)
TARGET = re.compile(rb"[!-~]+")
_PIECE = 256 * 1024  # of a request body in one write
LEAST_FINAL = 200  # a smaller status is no answer, or one to an upgrade, which is never asked for

_BREAKS = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)

Trace = Callable[[str, object], Awaitable[None]]
_Result = TypeVar("_Result")


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Sends requests as they are given; HTTP/1.1, no cookies, no redirects, no environment.

    Reads the extensions `target`, `timeout` (`read` again when the body is asked for) and `trace`
    (of which it tells the event of a new connection), and gives `network_stream`, whose `aclose`
    drops the connection at once. What aiohttp cannot send byte for byte goes through `plain`.
    """

    def __init__(self, plain: httpx.AsyncBaseTransport, tls: ssl.SSLContext, idle: float) -> None:
        self._plain = plain
        self._tls = tls
        self._idle = idle
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send, and wait for the head of the answer. Raises httpx's TransportErrors."""
        target = request.extensions["target"]
        url, headers = _url(request, target), _fields(request)
        if url is None or headers is None or request.method == "CONNECT":
            return await self._plain.handle_async_request(request)
        timeouts: MutableMapping[str, float] = request.extensions["timeout"]
        upload = _Upload(request.stream)
        try:
            async with upload.watched(timeouts):
                response = await self.opened().request(
                    request.method,
                    url,
                    headers=headers,
                    data=upload.data(),
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(
                        connect=timeouts["connect"], sock_read=timeouts["read"]
                    ),
                    trace_request_ctx=request.extensions["trace"],
                )
        except (aiohttp.ClientError, OSError, ValueError, httpx.TransportError) as problem:
            if upload.failure is not None:
                raise upload.failure from None
            raise as_httpx(problem) from None
        if response.status < LEAST_FINAL:
            response.close()
            raise httpx.ProtocolError(f"status {response.status} ends no request of ours")
        head = list(response.raw_headers)
        assert isinstance(response, _Response)
        response.forget_heads()
        return httpx.Response(
            response.status,
            headers=head,
            stream=PushedBody(response, timeouts),
            extensions={"network_stream": Connection(response)},
        )

    async def aclose(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
        await self._plain.aclose()

    def opened(self) -> aiohttp.ClientSession:
        """Give the client, made where there is a loop."""
        if self._session is None:
            tracing = aiohttp.TraceConfig()
            tracing.on_connection_create_start.append(_connecting)
            self._session = aiohttp.ClientSession(
                connector=_Connector(limit=0, keepalive_timeout=self._idle, ssl=self._tls),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=_OWN_HEADERS,
                trace_configs=[tracing],
                middlewares=[_once],
                response_class=_Response,
                **READING,
            )
        return self._session


class _Response(aiohttp.ClientResponse):
    """What is left of an exchange while its body is read, for minutes where a model thinks."""

    def forget_heads(self) -> None:
        """Let go of both heads and of the tracing: some 4 KB, of use to nobody any more."""
        del self._headers, self._raw_headers, self._request_info
        self._traces = []
        self._cache.clear()


class _Connector(aiohttp.TCPConnector):
    """Makes connections whose breaks are seen."""

    def __init__(self, *, limit: int, keepalive_timeout: float, ssl: ssl.SSLContext) -> None:
        super().__init__(limit=limit, keepalive_timeout=keepalive_timeout, ssl=ssl)
        protocol: type[ResponseHandler] = Protocol
        self._factory = functools.partial(protocol, loop=self._loop)


class Protocol(ResponseHandler):
    """Reads answers; every break of a connection is one of the answer that is under way on it.

    aiohttp lets a body wait for ever where its framing turns out to be wrong, as its parser has
    let go of it by then, and takes a reset for the orderly end of a body that a close delimits.
    `reader` is called behind whatever happens to the body.
    """

    reader: Callable[[], None] | None = None
    requests = 0  # that went over this connection
    _answered = False  # something came behind the newest of them
    _heard = 0.0

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._buffer = Few()  # type: ignore[assignment] # it does all that is done with a deque

    def set_response_params(self, **how: Any) -> None:
        """Make ready for one more answer."""
        self.requests += 1
        self._answered = False
        super().set_response_params(**how)

    def data_received(self, data: bytes) -> None:
        """Parse what came."""
        self._answered = True
        super().data_received(data)
        if self.reader is not None and data:
            self.reader()

    def resume_reading(self, resume_parser: bool = True) -> None:  # noqa: FBT001, FBT002 - aiohttp's
        """Read on, if it ever stopped; aiohttp asks for it at the end of each body, too."""
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def start_timeout(self) -> None:
        """Count anew, with what `read_timeout` is now."""
        self._drop_timeout()
        self._reschedule_timeout()

    def _reschedule_timeout(self) -> None:
        """Note that something came: one timer goes on where aiohttp makes one for each read.

        None goes on while reading is paused: aiohttp asks for one when it reads on, even where
        what was left of the last read has made it pause again.
        """
        self._heard = self._loop.time()
        if self._read_timeout_handle is None and not self._reading_paused:
            super()._reschedule_timeout()

    def _on_read_timeout(self) -> None:
        left = self._heard + (self._read_timeout or 0) - self._loop.time()
        if left > 0:
            self._read_timeout_handle = self._loop.call_later(left, self._on_read_timeout)
            return
        super()._on_read_timeout()
        self._tell()

    def set_exception(self, exc: BaseException, exc_cause: BaseException | None = None) -> None:
        """Note a fault. One that the parser found is the body's.

        A break behind a part of an answer is such a fault, too, or it would be taken for that of
        an idle connection, and all be sent again to an upstream that has begun to work on it.
        """
        if isinstance(exc, HttpProcessingError):
            self._break(exc)
        elif self._answered and isinstance(exc, _BREAKS):
            exc = HttpProcessingError(message=f"broken off: {exc!r}")
        super().set_exception(exc, exc_cause or exc)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Note the end of the connection, an orderly one where `exc` is None."""
        if exc is not None:
            self._break(exc)
        super().connection_lost(exc)
        self._tell()

    def _tell(self) -> None:
        if self.reader is not None:
            self.reader()

    def _break(self, why: BaseException) -> None:
        body = self._payload
        if body is not None and not body.is_eof():
            body.set_exception(aiohttp.ClientPayloadError(f"broken off: {why!r}"), why)


async def _connecting(
    _session: aiohttp.ClientSession, context: SimpleNamespace, _params: object
) -> None:
    trace: Trace = context.trace_request_ctx
    await trace("connection.connect_tcp.started", None)


async def _once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep aiohttp from sending a request again; it would, where the method is idempotent."""
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as problem:
        raise as_httpx(problem) from None


class _Upload:
    """A request's body on its way. `failure`: what reading it raised."""

    def __init__(self, stream: httpx.SyncByteStream | httpx.AsyncByteStream) -> None:
        self.failure: Exception | None = None
        self._stream = stream
        self._moved: Callable[[], None] = lambda: None

    def data(self) -> bytes | AsyncIterator[bytes] | None:
        """Give what aiohttp takes: long bodies in pieces, so that no write holds up the loop."""
        if isinstance(self._stream, httpx.ByteStream):
            body = b"".join(self._stream)
            return self._pieces(_slices(body)) if len(body) > _PIECE else body or None
        assert isinstance(self._stream, httpx.AsyncByteStream)
        return self._pieces(self._stream)

    async def _pieces(self, pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        try:
            async for piece in pieces:
                self._moved()
                yield piece
        except Exception as problem:
            self.failure = problem
            raise

    @asynccontextmanager
    async def watched(self, timeouts: MutableMapping[str, float]) -> AsyncIterator[None]:
        """Bound how long the upstream may take no further piece; aiohttp would wait for ever.

        Once the body is sent, aiohttp itself counts the time to the first byte.
        """
        loop = asyncio.get_running_loop()
        patience = timeouts["connect"] + timeouts["write"] + timeouts["read"]
        async with asyncio.timeout(patience) as deadline:
            self._moved = lambda: deadline.reschedule(loop.time() + patience)
            yield


class Received(typing.Protocol):
    """What an answer's body comes over; `connection` is None where it is read to its end."""

    @property
    def content(self) -> aiohttp.StreamReader:
        """What has come of it."""

    @property
    def connection(self) -> aiohttp.connector.Connection | None:
        """Its own until then."""

    def close(self) -> None:
        """Drop the connection, if there is still one."""


class PushedBody(httpx.AsyncByteStream):
    """An answer's body: each piece is all that has come so far. `ended`: there is no more."""

    def __init__(self, response: Received, timeouts: MutableMapping[str, float]) -> None:
        self.ended = False
        self._response = response
        self._content = content = response.content
        if content is not EMPTY_PAYLOAD:
            # Two deques more, which would be empty for as long as a model thinks.
            content._buffer = Few(content._buffer)  # type: ignore[assignment] # noqa: SLF001
            splits = content._http_chunk_splits or ()  # noqa: SLF001
            content._http_chunk_splits = Few(splits)  # type: ignore[assignment] # noqa: SLF001
        self._timeouts: MutableMapping[str, float] | None = timeouts  # until they are in force

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self.until(_itself):
            yield piece

    async def until(self, take: Callable[[bytes], _Result | None]) -> _Result:
        """Hand each piece to `take`, empty at the end, until it says something; answers with that.

        It is called where the piece is received: to wake the task that waits here costs more than
        most pieces do. What it raises is raised here, as are httpx's TransportErrors.
        """
        protocol = self._protocol()
        if protocol is not None and self._timeouts is not None:
            protocol.read_timeout = self._timeouts["read"]
            protocol.start_timeout()
            self._timeouts = None
        result = self._handed(take)
        if result is not None:
            return result
        if protocol is None:
            raise httpx.ReadError("the connection is gone")
        waiter: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()
        protocol.reader = functools.partial(self._arrived, take, protocol, waiter)
        try:
            return await waiter
        finally:
            protocol.reader = None

    def close(self) -> None:
        """Give the connection back if the body was read to its end, else drop it."""
        self._response.close()

    async def aclose(self) -> None:
        """Do the same, under the name that httpx has for it."""
        self.close()

    def _arrived(
        self,
        take: Callable[[bytes], _Result | None],
        protocol: Protocol,
        waiter: asyncio.Future[_Result],
    ) -> None:
        if waiter.done():
            return
        try:
            result = self._handed(take)
        except Exception as problem:  # noqa: BLE001 - raised where the body is waited for
            waiter.set_exception(problem)
            return
        if result is not None:
            waiter.set_result(result)
        elif protocol.transport is None:
            waiter.set_exception(httpx.ReadError("the connection was closed"))

    def _handed(self, take: Callable[[bytes], _Result | None]) -> _Result | None:
        """Hand over what is there; what came right before a break comes before the break.

        The stream's own ways to that wait in a task, or raise before they hand out what came
        before a break, and count each of the upstream's chunks once more.
        """
        content = self._content
        if content is EMPTY_PAYLOAD:  # it has no buffer
            self.ended = True
            return take(b"")
        while pieces := content._buffer:  # noqa: SLF001
            data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            pieces.clear()
            if content._http_chunk_splits:  # noqa: SLF001
                content._http_chunk_splits.clear()  # noqa: SLF001
            content._size = 0  # noqa: SLF001
            content._cursor += len(data)  # noqa: SLF001
            if content._protocol._reading_paused:  # noqa: SLF001
                content._protocol.resume_reading()  # noqa: SLF001
            result = take(data)
            if result is not None:
                return result
        if content._exception is not None:  # noqa: SLF001
            raise as_httpx(content._exception) from None  # noqa: SLF001
        if content._eof:  # noqa: SLF001
            self.ended = True
            return take(b"")
        return None

    def _protocol(self) -> Protocol | None:
        connection = self._response.connection
        protocol = None if connection is None else connection.protocol
        return protocol if isinstance(protocol, Protocol) else None


def _itself(piece: bytes) -> bytes:
    return piece


class Connection:
    """What an answer comes over."""

    def __init__(self, response: Received) -> None:
        self._response = response

    def abort(self) -> None:
        """Drop it at once, with whatever was still to be written."""
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            _hang_up(connection.transport)
            connection.transport.abort()
        self._response.close()

    async def aclose(self) -> None:
        """Do the same, under the name that httpx's own streams have for it."""
        self.abort()


def _hang_up(transport: asyncio.Transport) -> None:
    """Tell the other side in this very step; event loops close an aborted socket in their next."""
    own = transport.get_extra_info("socket")
    if own is None or own.fileno() < 0:
        return
    # uvloop's sockets cannot be shut down, so it is asked of the same one under another object.
    same = socket.socket(own.family, own.type, own.proto, fileno=own.fileno())
    try:
        same.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the other side was faster
    finally:
        same.detach()


async def _slices(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), _PIECE):
        yield body[start : start + _PIECE]


def _url(request: httpx.Request, target: bytes) -> URL | None:
    """Give the address with `target` as it stands, None where that cannot be said."""
    if not TARGET.fullmatch(target):
        return None
    exact = target.decode()
    url = URL(f"{request.url.scheme}://{request.url.netloc.decode()}{exact}", encoded=True)
    return url if url.raw_path_qs == exact else None


def _fields(request: httpx.Request) -> list[tuple[str, str]] | None:
    """Give the fields as text, None where one is no UTF-8; aiohttp frames the body itself."""
    try:
        fields = [(name.decode(), value.decode()) for name, value in request.headers.raw]
    except UnicodeDecodeError:
        return None
    return [field for field in fields if field[0].lower() != "transfer-encoding"]


_FAULTS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (aiohttp.ConnectionTimeoutError, httpx.ConnectTimeout),
    (TimeoutError, httpx.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    # Not RemoteProtocolError, as something was answered: a caller must not send it all again.
    (aiohttp.ClientResponseError, httpx.ProtocolError),
    (aiohttp.ServerDisconnectedError, httpx.RemoteProtocolError),
    (ValueError, httpx.LocalProtocolError),
)


def as_httpx(problem: BaseException) -> httpx.TransportError:
    """Say it in httpx's words; the first kind that fits."""
    if isinstance(problem, httpx.TransportError):
        return problem
    kinds = (ours for theirs, ours in _FAULTS if isinstance(problem, theirs))
    return next(kinds, httpx.ReadError)(str(problem) or type(problem).__name__)
