"""Requests that the proxy does not understand: byte for byte, in both directions."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from proxy.client import BrokenAnswer, Client, until_client_leaves
from proxy.errors import UpstreamFault
from proxy.headers import Field, first, to_client
from proxy.routing import Target
from proxy.upstream import Upstream, UpstreamResponse

logger = logging.getLogger(__name__)

_NO_BODY = frozenset({204, 304})


class ClientLeft(Exception):  # noqa: N818 - named as what happened
    """The client closed its connection while its request was still being read."""


class Passthrough:
    """Handler of every request without rules."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def __call__(self, request: Request, target: Target) -> Response:
        """Answer with whatever the upstream answers."""
        return Passed(self._upstream, request.method, target)


class Passed(Response):
    """An answer that is fetched while it is sent; the client's leaving ends both at once."""

    def __init__(self, upstream: Upstream, method: str, target: Target) -> None:
        super().__init__()
        self._upstream = upstream
        self._method = method
        self._target = target

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the exchange; raises UpstreamFault before the head, BrokenAnswer behind it."""
        headers: list[Field] = scope["headers"]
        body = _RequestBody(receive)
        client = Client(send)

        async def exchange() -> None:
            try:
                response = await self._open(headers, body)
            except ClientLeft:
                return
            try:
                await _copy(response, client, send)
            except UpstreamFault as fault:
                logger.warning("%s %s: %s", self._method, self._target.name, fault)
                raise BrokenAnswer from None
            finally:
                await response.aclose()

        await until_client_leaves(body.receive_rest, exchange())

    async def _open(self, headers: list[Field], body: _RequestBody) -> UpstreamResponse:
        sent: bytes | AsyncIterator[bytes] = aiter(body)
        if not _announces_body(headers):
            sent = b"".join([piece async for piece in body])
        return await self._upstream.open(
            self._method, self._target.path, self._target.query, headers, sent
        )


class _RequestBody:
    """The client's body, read as it is wanted; behind it, only the client's leaving can come."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._read = anyio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientLeft
            more = message.get("more_body", False)
            if not more:
                self._read.set()
            if piece := message.get("body", b""):
                yield piece

    async def receive_rest(self) -> Message:
        """Receive what comes behind the body."""
        await self._read.wait()
        return await self._receive()


async def _copy(response: UpstreamResponse, client: Client, send: Send) -> None:
    headers = to_client(response.headers)
    if response.status in _NO_BODY:
        # A length may stand here for a body that is not sent, which the server would wait for.
        headers = [pair for pair in headers if pair[0].lower() != b"content-length"]
    await client.start(response.status, headers)
    async for piece in response:
        # Nobody else writes to this client, so no turn has to be waited for.
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    # Before the client can know that it is over, and send the next request for this connection.
    await response.aclose()
    await client.end()


def _announces_body(headers: list[Field]) -> bool:
    length = first(headers, b"content-length")
    return first(headers, b"transfer-encoding") is not None or length not in {None, b"0"}
