"""The client's side of one answer: what was started, what was sent, when it left.

Writes are whole events and one at a time; a client that leaves cancels the work for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import anyio
from starlette.types import Receive, Send

from proxy.errors import Fault
from proxy.headers import Field


class BrokenAnswer(Exception):  # noqa: N818 - named by what the client sees
    """Raised to end an answer uncleanly, as the upstream's ended; the server cuts the socket."""


class Client:
    """Sends one answer over ASGI."""

    def __init__(self, send: Send) -> None:
        self.started = False
        # The clock itself: to ask anyio for it is to ask which loop runs, once more for each piece.
        self._now = asyncio.get_running_loop().time
        self.last_sent = self._now()
        self._send = send
        self._turn = asyncio.Lock()

    async def start(self, status: int, headers: Sequence[Field]) -> None:
        """Send the head."""
        self.started = True
        message = {"type": "http.response.start", "status": status, "headers": list(headers)}
        await self._send(message)

    async def write(self, data: bytes) -> None:
        """Send a piece of the body; nothing is written for nothing."""
        if not data:
            return
        async with self._turn:
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self.last_sent = self._now()

    async def end(self) -> None:
        """End the body in an orderly way."""
        async with self._turn:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def whole(self, status: int, headers: Sequence[Field], body: bytes) -> None:
        """Send a whole answer."""
        length = (b"content-length", str(len(body)).encode())
        await self.start(status, [*headers, length])
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def fault(self, fault: Fault) -> None:
        """Send an error answer in OpenAI's shape."""
        headers = [(b"content-type", b"application/json")]
        if fault.retry_after is not None:
            headers.append((b"retry-after", str(fault.retry_after).encode()))
        await self.whole(fault.status, headers, fault.body())


async def until_client_leaves(
    receive: Receive,
    work: Callable[[], Awaitable[None]],
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Run `work`, and cancel it at once when the client closes its connection.

    `beside` runs along with it and is cancelled when it ends.
    """
    failure: BaseException | None = None
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(watch)
        if beside is not None:
            group.start_soon(beside)
        try:
            await work()
        except Exception as problem:  # noqa: BLE001 - raised again, outside of the group's wrapping
            failure = problem
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
