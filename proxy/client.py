"""The client's side of one answer: what was started, what was sent, when it left.

Writes are whole events and one at a time; a client that leaves cancels the work for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, Protocol

import anyio
from starlette.types import Message, Receive, Send

from proxy.errors import Fault
from proxy.headers import Field

LEAVING = "ttsr.leaving"
WRITING = "ttsr.writing"

# Writes a piece of a body, at once; False, and nothing is written, where a message must say it.
WriteNow = Callable[[bytes], bool]
# Under `WRITING` in the scope of a request: how its body can be written so, once it has begun.
Writing = Callable[[], WriteNow | None]


class BrokenAnswer(Exception):  # noqa: N818 - named by what the client sees
    """Raised to end an answer uncleanly, as the upstream's ended; the server cuts the socket."""


class _Begun:
    """What is left of a write of `data` that has to wait; awaiting this brings it to its end."""

    def __init__(self, data: bytes, steps: Generator[Any, Any, None], waited_for: Any) -> None:
        self.data = data
        self._steps = steps
        self._waited_for = waited_for

    def __await__(self) -> Generator[Any, Any, None]:
        resume: Callable[[Any], Any]
        while True:
            try:
                value, resume = (yield self._waited_for), self._steps.send
            except BaseException as problem:  # noqa: BLE001 - it is for the write to deal with
                value, resume = problem, self._steps.throw
            try:
                self._waited_for = resume(value)
            except StopIteration:
                return


class Client:
    """Sends one answer over ASGI. `writing`: how the server takes pieces without a message."""

    def __init__(self, send: Send, writing: Writing | None = None) -> None:
        self.started = False
        # The clock itself: to ask anyio for it is to ask which loop runs, once more for each piece.
        self._now = asyncio.get_running_loop().time
        self.last_sent = self._now()
        self._send = send
        self._writing = writing
        self._write: WriteNow | None = None  # while the body is under way
        self._turn = asyncio.Lock()
        self._free = True  # nothing is being written, and nothing waits for that
        self._begun: _Begun | None = None
        self._late = bytearray()  # what goes out before anything else
        self._flushing: asyncio.Task[None] | None = None

    async def start(self, status: int, headers: Sequence[Field]) -> None:
        """Send the head."""
        self.started = True
        message = {"type": "http.response.start", "status": status, "headers": list(headers)}
        await self._send(message)
        self._write = None if self._writing is None else self._writing()

    async def write(self, data: bytes) -> None:
        """Send a piece of the body; nothing is written for nothing."""
        if data and not self.write_now(data):
            await self.flush()

    def write_now(self, data: bytes) -> bool:
        """Send a piece without waiting; False where some of it waits, and `flush` must be awaited.

        Mostly a server takes a piece at once, and no task has to be woken for it. This may be
        called outside of any task.
        """
        if not self._free:
            self._late += data
            return False
        if self._write is not None and self._write(data):
            self.last_sent = self._now()
            return True
        message = {"type": "http.response.body", "body": data, "more_body": True}
        steps = self._send(message).__await__()
        try:
            waited_for = next(steps)
        except StopIteration:
            self.last_sent = self._now()
            return True
        self._begun = _Begun(data, steps, waited_for)
        self._free = False
        return False

    @property
    def waits(self) -> bool:
        """Whether something waits for a client that does not read."""
        return not self._free

    async def flush(self) -> None:
        """Send what `write_now` had to leave."""
        await self._catch_up()

    def write_soon(self, data: bytes) -> None:
        """Send a piece where nobody can wait for it: before whatever is written later."""
        if data and not self.write_now(data) and (self._flushing is None or self._flushing.done()):
            self._flushing = asyncio.get_running_loop().create_task(self.flush())

    async def end(self) -> None:
        """End the body in an orderly way."""
        await self._catch_up({"type": "http.response.body", "body": b"", "more_body": False})

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

    async def _catch_up(self, last: Message | None = None) -> None:
        """Send what had to be left, then `last`."""
        async with self._turn:
            self._free = False
            try:
                await self._finish()
                if last is not None:
                    self._write = None
                    await self._send(last)
            finally:
                self._free = self._begun is None and not self._late

    async def _finish(self) -> None:
        if self._begun is not None:
            begun, self._begun = self._begun, None
            try:
                await begun
            except asyncio.CancelledError:
                self._late[:0] = begun.data  # a server that waits has written nothing yet
                raise
            self.last_sent = self._now()
        while self._late:
            late = bytes(self._late)
            await self._send({"type": "http.response.body", "body": late, "more_body": True})
            del self._late[: len(late)]
            self.last_sent = self._now()


class Leaving(Protocol):
    """Tells when a client has left, under `LEAVING` in the scope of a request where it is known.

    `receive` tells it too, but only to a task that waits for it.
    """

    def tell(self, left: Callable[[], None]) -> None:
        """Have `left` called once it has, at once if it has already."""

    def forget(self, left: Callable[[], None]) -> None:
        """Call it no more."""


async def until_client_leaves(
    receive: Receive,
    work: Awaitable[None],
    leaving: Leaving | None = None,
    scope: anyio.CancelScope | None = None,
) -> None:
    """Run `work`, and cancel it at once when the client closes its connection.

    Without `leaving` a task is made that listens, beside the work. `scope`: what is cancelled
    then, where the caller wants to cancel it too.
    """
    scope = anyio.CancelScope() if scope is None else scope
    if leaving is not None:
        with scope:
            leaving.tell(scope.cancel)
            try:
                await work
            finally:
                leaving.forget(scope.cancel)
        return
    with scope:
        # A task and a scope, where a task group takes 3 KB more for as long as the answer.
        watching = asyncio.get_running_loop().create_task(_watch(receive, scope))
        try:
            await work
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
