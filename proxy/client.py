"""The client's side of one answer: what was started, what was sent, when it left.

Writes are whole events and one at a time; a client that leaves cancels the work for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

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
        self._late = bytearray()  # what goes out before anything else
        self._flushing: asyncio.Task[None] | None = None

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
            await self._finish()
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self.last_sent = self._now()

    def write_soon(self, data: bytes) -> None:
        """Send a piece from outside of any task: before whatever is written later."""
        self._late += data
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self._flush())

    async def end(self) -> None:
        """End the body in an orderly way."""
        async with self._turn:
            await self._finish()
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

    async def _flush(self) -> None:
        async with self._turn:
            await self._finish()

    async def _finish(self) -> None:
        while self._late:
            late, self._late = bytes(self._late), bytearray()
            await self._send({"type": "http.response.body", "body": late, "more_body": True})
            self.last_sent = self._now()


async def until_client_leaves(receive: Receive, work: Callable[[], Awaitable[None]]) -> None:
    """Run `work`, and cancel it at once when the client closes its connection."""
    with anyio.CancelScope() as scope:
        # A task and a scope, where a task group takes 3 KB more for as long as the answer.
        watching = asyncio.get_running_loop().create_task(_watch(receive, scope))
        try:
            await work()
        finally:
            watching.cancel()
    if watching.done() and not watching.cancelled():
        watching.result()  # raises what receiving raised


async def _watch(receive: Receive, scope: anyio.CancelScope) -> None:
    try:
        while (await receive())["type"] != "http.disconnect":
            pass
    finally:
        scope.cancel()
