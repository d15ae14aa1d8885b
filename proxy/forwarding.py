"""The catch-all route: any method and path, to the handler that understands it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from proxy.client import BrokenAnswer, Client
from proxy.drain import Drain
from proxy.errors import BadRequest, BodyTooLarge, Fault, UpgradeRequired
from proxy.headers import Field, first
from proxy.routing import Target, read_target

logger = logging.getLogger(__name__)

# Answers one request. It may raise a Fault, which becomes an error answer.
Handler = Callable[[Request, Target], Awaitable[Response]]


class Forwarding:
    """An ASGI app; `relay` takes chat and plain completions, `passthrough` everything else."""

    def __init__(
        self, passthrough: Handler, relay: Handler | None, drain: Drain, body_limit: int
    ) -> None:
        self._passthrough = passthrough
        self._relay = relay
        self._drain = drain
        self._limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. A broken answer is left unfinished, so that the server cuts it."""
        sending = _Sending(send, closing=first(scope["headers"], b"upgrade") is not None)
        try:
            target = read_target(scope["raw_path"], scope["query_string"], scope["headers"])
            _check(scope["headers"], self._limit)
            with self._drain.turn():
                limited = _limited(receive, self._limit)
                handler = self._handler(scope["method"], target)
                response = await handler(Request(scope, limited), target)
                await response(scope, limited, sending)
        except BrokenAnswer:
            logger.debug("%s: the answer was cut", scope["path"])
        except Fault as fault:
            if sending.started:
                logger.warning("%s: the answer was cut: %s", scope["path"], fault)
            else:
                await Client(sending).fault(fault)

    def _handler(self, method: str, target: Target) -> Handler:
        read = target.is_chat or target.is_completions
        if self._relay is not None and method == "POST" and read:
            return self._relay
        return self._passthrough


class _Sending:
    """Notes whether the answer has begun; closes connections whose client spoke of upgrading."""

    def __init__(self, send: Send, *, closing: bool) -> None:
        self.started = False
        self._send = send
        self._closing = closing

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            if self._closing:
                headers = [*message["headers"], (b"connection", b"close")]
                message = {**message, "headers": headers}
        await self._send(message)


def _check(headers: list[Field], limit: int) -> None:
    if (first(headers, b"upgrade") or b"").lower() == b"websocket":
        raise UpgradeRequired(
            "this proxy does not speak WebSocket; send the request as plain HTTP, which every "
            "client of the Responses API falls back to"
        )
    length = first(headers, b"content-length") or b"0"
    if not length.isdigit():
        raise BadRequest("the Content-Length header should be a number of bytes")
    if int(length) > limit:
        raise _too_large(limit)


def _limited(receive: Receive, limit: int) -> Receive:
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise _too_large(limit)
        return message

    return limited


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"the request body is larger than {limit} bytes; raise limits.body if that is intended"
    )
