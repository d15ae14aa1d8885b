"""The connection to the API behind the proxy; the only one who opens any.

HTTP/1.1 only, so that closing a response really cancels it: the socket is gone, in every phase,
whatever happens to the task that asked. Redirects are answers, cookies and environment proxies
do not exist.
"""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from urllib.parse import SplitResult, unquote, urlsplit

import httpx

from proxy import codings
from proxy.config import Settings, without_credentials
from proxy.connection import Broken, Connection, Silent
from proxy.errors import (
    BadRequest,
    ConnectFailed,
    FirstByteTimeout,
    IdleTimeout,
    UpstreamBroken,
)
from proxy.headers import Field, first, to_upstream

_KEEP_IDLE_SECONDS = 30.0
# One of several addresses may be dead (IPv6 without a route); the next is tried soon.
_ADDRESS_SECONDS = 2.0
_METHODS_WITH_LENGTH = frozenset({"POST", "PUT", "PATCH"})


class UpstreamResponse:
    """An answer whose head has come. Close it in a `finally`; iterating does not close it.

    `headers`: every field as received. Iterating gives the raw bytes of the body as they come,
    without undoing any content coding; raises IdleTimeout or UpstreamBroken.
    """

    def __init__(self, owner: Upstream, connection: Connection) -> None:
        self.status = connection.status
        self.headers: tuple[Field, ...] = tuple(connection.headers)
        self._owner = owner
        self._connection = connection
        self._closed = False

    @property
    def decodable(self) -> bool:
        """Whether `decoded` knows every content coding of this answer."""
        return codings.decodable(codings.codings(self.headers))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._owner.read(self._connection):
            yield piece

    async def decoded(self) -> AsyncIterator[bytes]:
        """Iterate the body with its content coding undone; raises UpstreamBroken on damage."""
        chain = codings.Chain(codings.codings(self.headers))
        async for piece in self:
            try:
                plain = chain.decode(piece)
            except codings.UndecodableBody:
                raise UpstreamBroken(
                    "the upstream's answer is damaged: it is not what its Content-Encoding says"
                ) from None
            if plain:
                yield plain

    async def aclose(self) -> None:
        """Give the connection back if the body is complete, else close its socket.

        Idempotent. It waits for nothing, so it is done even in a task that is being cancelled.
        """
        if not self._closed:
            self._closed = True
            self._owner.release(self._connection)


class Upstream:
    """Opens requests to the one API of the settings. Closed once, by `aclose`."""

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.upstream_url)
        self.shown = without_credentials(settings.upstream_url)
        self._timeouts = settings.upstream
        self._base = parts.path.encode()
        self._name = parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._tls = _tls_context() if parts.scheme == "https" else None
        self._host = _host_field(parts)
        self._login = _basic_login(parts.username, parts.password)
        self._connections: set[Connection] = set()
        self._idle: list[tuple[Connection, float]] = []

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
        target = self._base + path + (b"?" + query if query else b"")
        head = _request_head(method, target, self._fields(method, headers, body))
        if not isinstance(body, bytes):
            body = _as_long_as_announced(body, first(headers, b"content-length"))
        connection = self._take_idle()
        if connection is not None:
            try:
                return await self._exchange(connection, method, head, body)
            except UpstreamBroken:
                # RFC 9112 section 9.3.1: the upstream may close an idle connection just as we
                # reuse it. If it had begun to answer, that answer would have been returned.
                if not isinstance(body, bytes):
                    raise
        return await self._exchange(await self._connect(), method, head, body)

    async def read(self, connection: Connection) -> bytes:
        """Read on in an answer's body; raises IdleTimeout or UpstreamBroken."""
        try:
            return await connection.read(self._timeouts.idle_timeout)
        except Silent:
            raise IdleTimeout(
                f"the upstream {self.shown} sent nothing for {self._timeouts.idle_timeout:g} s in "
                "mid-answer; raise upstream.idleTimeout if it may be silent for so long"
            ) from None
        except Broken as problem:
            raise UpstreamBroken(
                f"the upstream {self.shown} broke off in mid-answer ({problem})"
            ) from None

    def release(self, connection: Connection) -> None:
        """Keep a connection for the next request if it allows one, else close it at once."""
        if connection.reusable:
            self._idle.append((connection, asyncio.get_running_loop().time()))
        else:
            connection.abort()

    async def aclose(self) -> None:
        """Close every connection."""
        self._idle.clear()
        lost = [connection.lost for connection in self._connections]
        for connection in list(self._connections):
            connection.abort()
        await asyncio.gather(*lost)

    async def _exchange(
        self, connection: Connection, method: str, head: bytes, body: bytes | AsyncIterator[bytes]
    ) -> UpstreamResponse:
        try:
            await connection.send(method, head, body, self._timeouts.idle_timeout)
            await connection.head(self._timeouts.first_byte_timeout)
        except Silent:
            connection.abort()
            raise FirstByteTimeout(
                f"the upstream {self.shown} did not begin its answer within "
                f"{self._timeouts.first_byte_timeout:g} s; raise upstream.firstByteTimeout "
                "if it may take longer"
            ) from None
        except Broken as problem:
            connection.abort()
            raise UpstreamBroken(
                f"the upstream {self.shown} broke off before it answered ({problem})"
            ) from None
        except BaseException:
            connection.abort()
            raise
        return UpstreamResponse(self, connection)

    def _take_idle(self) -> Connection | None:
        """Take the youngest idle connection; drop what has been idle for too long."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection, since = self._idle.pop()
            if connection.alive and now - since < _KEEP_IDLE_SECONDS:
                return connection
            connection.abort()
        return None

    async def _connect(self) -> Connection:
        seconds = self._timeouts.connect_timeout
        try:
            async with asyncio.timeout(seconds):
                return await self._dial()
        except TimeoutError:
            raise ConnectFailed(
                f"no connection to the upstream {self.shown} within {seconds:g} s; "
                "check upstream.url, or raise upstream.connectTimeout"
            ) from None
        except (OSError, UnicodeError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            raise ConnectFailed(
                f"no connection to the upstream {self.shown} ({reason}); "
                "check upstream.url and that the API is running"
            ) from None

    async def _dial(self) -> Connection:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(self._name, self._port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        for address in addresses[:-1]:
            try:
                async with asyncio.timeout(_ADDRESS_SECONDS):
                    return await self._reach(address)
            except OSError:  # TimeoutError is one
                continue
        return await self._reach(addresses[-1])

    async def _reach(self, address: str) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(
            Connection,
            address,
            self._port,
            ssl=self._tls,
            server_hostname=self._name if self._tls else None,
        )
        self._connections.add(connection)
        connection.lost.add_done_callback(lambda _: self._connections.discard(connection))
        return connection

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


async def _as_long_as_announced(
    body: AsyncIterator[bytes], announced: bytes | None
) -> AsyncIterator[bytes]:
    """Pass a body on; raises BadRequest where Content-Length says otherwise."""
    left = None if announced is None else int(announced)
    async for piece in body:
        if left is not None:
            left -= len(piece)
            if left < 0:
                break
        yield piece
    if left:
        raise BadRequest("the request body is not as long as its Content-Length header says")


def _request_head(method: str, target: bytes, fields: Sequence[Field]) -> bytes:
    lines = [b"%b %b HTTP/1.1" % (method.encode("ascii"), target)]
    lines += [b"%b: %b" % field for field in fields]
    if any(b"\r" in line or b"\n" in line or b"\0" in line for line in lines):
        raise BadRequest("the request cannot be passed on: a line of its head holds a line break")
    return b"\r\n".join([*lines, b"", b""])


def _host_field(parts: SplitResult) -> bytes:
    authority = parts.netloc.rpartition("@")[2]
    return authority.encode("ascii" if authority.isascii() else "idna")


def _tls_context() -> ssl.SSLContext:
    # httpx's: SSL_CERT_FILE or SSL_CERT_DIR where they are set, else certifi's authorities.
    context = httpx.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _basic_login(user: str | None, password: str | None) -> bytes | None:
    if user is None:
        return None
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return b"Basic " + base64.b64encode(pair.encode())
