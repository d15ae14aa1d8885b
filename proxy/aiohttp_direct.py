"""Short requests, written straight onto a connection of aiohttp's pool.

aiohttp's client makes some 150 calls of a request for what a proxy has no use for (cookies,
redirects, tracing, a task that writes the body), and the reader of an answer is woken twice.
Connections, the parser of answers and the pool stay aiohttp's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import aiohttp
import httpx
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection as Line
from aiohttp.http import HttpProcessingError
from yarl import URL

from proxy.aiohttp_transport import (
    LEAST_FINAL,
    READING,
    TARGET,
    AiohttpTransport,
    Connection,
    Protocol,
    PushedBody,
    as_httpx,
)
from proxy.headers import Field

# A transport that has nothing to write yet takes so much without asking anybody to wait.
LONGEST = 60 * 1024
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # in a field, all but the tab
# Said in front of an answer; 101 would be one, to what is never asked for.
_INTERIM = frozenset(range(100, LEAST_FINAL)) - {101}


@dataclass(slots=True)
class Try:
    """What is known of a request that failed. `reused`: it went over a connection used before."""

    reused: bool = False


class Head(NamedTuple):
    """An answer whose head has come."""

    status: int
    fields: Sequence[Field]
    body: PushedBody
    connection: Connection


class Direct:
    """Sends requests to one origin, over the connections of `transport`."""

    def __init__(self, transport: AiohttpTransport, origin: httpx.URL, connect: float) -> None:
        self._transport = transport
        self._timeout = aiohttp.ClientTimeout(connect=connect)
        self._origin = _Origin(URL(str(origin), encoded=True))

    async def send(
        self,
        target: bytes,
        fields: Iterable[Field],
        body: bytes,
        timeouts: MutableMapping[str, float],
        told: Try,
    ) -> Head | None:
        """POST `body` and wait for the head of the answer; None: this is for the client itself.

        `fields` frame the body. Of `timeouts`, `read` counts until the head, and again from when
        the body is asked for. Raises httpx's TransportErrors. Cancelling closes the connection.
        """
        request = _written(target, fields, body)
        if request is None:
            return None
        try:
            line = await self._connected()
            try:
                return await _asked(line, request, timeouts, told)
            except BaseException:
                line.close()
                raise
        except HttpProcessingError as problem:
            # Not RemoteProtocolError, as something was answered: it must not be asked again.
            raise httpx.ProtocolError(str(problem)) from None
        except (aiohttp.ClientError, OSError) as problem:
            raise as_httpx(problem) from None

    async def _connected(self) -> Line:
        connector = self._transport.opened().connector
        assert connector is not None
        try:
            return await connector.connect(
                cast("aiohttp.ClientRequest", self._origin), [], self._timeout
            )
        except TimeoutError:
            raise httpx.ConnectTimeout("no connection in time") from None


class _Origin:
    """What a connector asks a request for, which is the same for all that go to one place."""

    proxy = proxy_headers = server_hostname = None
    ssl = True  # as the connector says

    def __init__(self, url: URL) -> None:
        self.url = url
        self.host, self.port = url.raw_host or "", url.port
        self.connection_key = ConnectionKey(
            self.host, self.port, self.is_ssl(), self.ssl, None, None, None
        )

    def is_ssl(self) -> bool:
        return self.url.scheme == "https"


class _Received:
    """What an answer's body comes over, until it is read to its end or given up."""

    __slots__ = ("connection", "content")

    def __init__(self, line: Line, content: aiohttp.StreamReader) -> None:
        self.connection: Line | None = line
        self.content = content
        content.on_eof(self._ended)

    def _ended(self) -> None:
        line, self.connection = self.connection, None
        if line is not None:
            line.release()

    def close(self) -> None:
        line, self.connection = self.connection, None
        if line is None:
            return
        if self.content.exception() is None:
            self.content.set_exception(aiohttp.ClientConnectionError("the answer was given up"))
        line.close()


async def _asked(
    line: Line, request: bytes, timeouts: MutableMapping[str, float], told: Try
) -> Head:
    protocol = line.protocol
    assert isinstance(protocol, Protocol)
    protocol.set_response_params(read_until_eof=True, read_timeout=timeouts["read"], **READING)
    told.reused = protocol.requests > 1
    if protocol.transport is None or protocol.transport.is_closing():
        raise aiohttp.ServerDisconnectedError
    protocol.transport.write(request)
    protocol.start_timeout()
    message, content = await protocol.read()
    while message.code in _INTERIM:
        protocol.start_timeout()  # aiohttp drops it behind a head without a body
        message, content = await protocol.read()
    if message.code < LEAST_FINAL:
        raise httpx.ProtocolError(f"status {message.code} ends no request of ours")
    received = _Received(line, content)
    return Head(
        message.code, message.raw_headers, PushedBody(received, timeouts), Connection(received)
    )


def _written(target: bytes, fields: Iterable[Field], body: bytes) -> bytes | None:
    """Give the request's bytes; None where they are too many, or not ours to write."""
    if not TARGET.fullmatch(target):
        return None
    lines = [b"%b: %b" % field for field in fields]
    if _CONTROLS.search(b"".join(lines)):
        return None
    request = b"\r\n".join([b"POST %b HTTP/1.1" % target, *lines, b"", body])
    return request if len(request) <= LONGEST else None
