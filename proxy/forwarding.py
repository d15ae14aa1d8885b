"""The catch-all route: any method and path, to the handler that understands it."""

from __future__ import annotations

import logging
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from proxy.client import BrokenAnswer, Client
from proxy.drain import Drain
from proxy.errors import BadRequest, BodyTooLarge, Fault, RulesDown, UpgradeRequired
from proxy.headers import by_name
from proxy.routing import Target, read_target

logger = logging.getLogger(__name__)

# Answers one request. It may raise a Fault, which becomes an error answer.
Handler = Callable[[Request, Target], Awaitable[Response]]


class Forwarding:
    """An ASGI app; `relay` takes chat and plain completions, `passthrough` everything else.

    `fail_open`: what a defect keeps `relay` from taking is passed through as well.
    """

    def __init__(
        self,
        passthrough: Handler,
        relay: Handler | None,
        drain: Drain,
        body_limit: int,
        *,
        fail_open: bool = True,
    ) -> None:
        self._passthrough = passthrough
        self._relay = relay
        self._drain = drain
        self._limit = body_limit
        self._fail_open = fail_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. A broken answer is left unfinished, so that the server cuts it."""
        fields = by_name(scope["headers"])
        sending = _Sending(send, closing=b"upgrade" in fields)
        try:
            target = read_target(scope["raw_path"], scope["query_string"], scope["headers"])
            _check(fields, self._limit)
            del fields  # else it is kept for as long as the answer takes
            with self._drain.turn():
                response, rest = await self._answer(scope, receive, target)
                await response(scope, rest, sending)
        except BrokenAnswer:
            logger.debug("%s: the answer was cut", scope["path"])
        except Fault as fault:
            if sending.started:
                logger.warning("%s: the answer was cut: %s", scope["path"], fault)
            else:
                await Client(sending).fault(fault)

    async def _answer(
        self, scope: Scope, receive: Receive, target: Target
    ) -> tuple[Response, Receive]:
        """Give the answer, and what it is to receive from."""
        limited = _limited(receive, self._limit)
        read = target.is_chat or target.is_completions
        if self._relay is None or scope["method"] != "POST" or not read:
            return await self._passthrough(Request(scope, limited), target), limited
        kept = _Kept(limited)
        try:
            # It has read all of the body, so that there is nothing left to limit.
            return await self._relay(Request(scope, kept), target), receive
        except (Fault, BrokenAnswer):
            raise
        except Exception as defect:  # noqa: BLE001 - whatever it is, it is ours
            # Its words may hold what a client wrote, so its place has to be enough.
            place = traceback.extract_tb(defect.__traceback__)[-1]
            fault = (
                f"a fault of ours before the request went out: {type(defect).__name__} in "
                f"{place.name}, line {place.lineno} of {place.filename.rpartition('/')[2]}"
            )
            if not self._fail_open:
                logger.error(fault)  # noqa: TRY400 - see above
                raise RulesDown(f"{fault}, and failMode is closed") from None
            logger.error("%s; it goes out without rules", fault)  # noqa: TRY400 - see above
        return await self._passthrough(Request(scope, kept.again), target), kept.again


class _Kept:
    """Receives, and keeps what it received, so that it can be received again."""

    __slots__ = ("_kept", "_receive")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._kept: deque[Message] = deque()

    async def __call__(self) -> Message:
        message = await self._receive()
        self._kept.append(message)
        return message

    async def again(self) -> Message:
        """Give what was kept, then what still comes."""
        return self._kept.popleft() if self._kept else await self._receive()


class _Sending:
    """Notes whether the answer has begun; closes connections whose client spoke of upgrading."""

    __slots__ = ("_closing", "_send", "started")

    def __init__(self, send: Send, *, closing: bool) -> None:
        self.started = False
        self._send = send
        self._closing = closing

    def __call__(self, message: Message) -> Awaitable[None]:
        """Send a message; not a coroutine of its own, as every piece of a stream goes through."""
        if message["type"] == "http.response.start":
            self.started = True
            if self._closing:
                headers = [*message["headers"], (b"connection", b"close")]
                message = {**message, "headers": headers}
        return self._send(message)


def _check(fields: Mapping[bytes, bytes], limit: int) -> None:
    if fields.get(b"upgrade", b"").lower() == b"websocket":
        raise UpgradeRequired(
            "this proxy does not speak WebSocket; send the request as plain HTTP, which every "
            "client of the Responses API falls back to"
        )
    length = fields.get(b"content-length") or b"0"
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
