"""One HTTP/1.1 connection to the upstream: closing it is a plain call, so nothing can precede it.

httptools parses; what is here is when to wait, what an end means, and what may be used again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import httptools

from proxy.headers import Field

_MOST_BUFFERED = 256 * 1024
_LONGEST_HEAD = 256 * 1024


class Broken(Exception):  # noqa: N818 - a state of the connection, named as one
    """The connection ended, or said what is no HTTP, before the answer was complete."""


class Silent(Exception):  # noqa: N818 - a state of the connection, named as one
    """Nothing moved for as long as the caller was willing to wait."""


class Connection(asyncio.Protocol):
    """Carries one exchange at a time: `send`, then `head`, then `read` until it gives nothing.

    Bytes that came before a break are read before the break is raised.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._begin("")

    def _begin(self, method: str) -> None:
        self._parser = httptools.HttpResponseParser(self)
        # What real servers write: bare line feeds, and spaces behind a chunk's size.
        self._parser.set_dangerous_leniencies(
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_optional_crlf_after_chunk=True,
            lenient_spaces_after_chunk_size=True,
        )
        self.status = 0
        self.headers: list[Field] = []
        self._method = method
        self._head_size = 0
        self._interim = False
        self._ends_at_close = False
        self._keeps_alive = False
        self._sent = False
        self._complete = False
        self._pieces: list[bytes] = []
        self._buffered = 0
        self._failure: str | None = None
        self._waiter: asyncio.Future[None] | None = None

    # What the owner calls.

    @property
    def complete(self) -> bool:
        """Whether the answer has come to its end and all of it was read."""
        return self._complete and not self._pieces

    @property
    def reusable(self) -> bool:
        """Whether another exchange may follow."""
        return (
            self.complete
            and self._sent
            and not self._ends_at_close
            and self._failure is None
            and self._method != "HEAD"
            and self._keeps_alive
            and self.alive
        )

    @property
    def alive(self) -> bool:
        """Whether the socket is open, as far as is known."""
        return self._transport is not None and not self._transport.is_closing()

    async def send(
        self, method: str, head: bytes, body: bytes | AsyncIterator[bytes], silence: float
    ) -> None:
        """Send a request; stops early where the answer comes before the body is out."""
        assert self._transport is not None
        self._begin(method)
        if isinstance(body, bytes):
            self._transport.write(head + body)
            await self._drained(silence)
        else:
            chunked = b"\r\ntransfer-encoding: chunked\r\n" in head.lower()
            self._transport.write(head)
            async for piece in body:
                if self.status or not self.alive:
                    return
                self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                await self._drained(silence)
            if chunked:
                self._transport.write(b"0\r\n\r\n")
        self._sent = True

    async def head(self, silence: float) -> None:
        """Wait for status and fields; raises Broken or Silent."""
        while not self.status:
            self._check()
            await self._wait(silence)

    async def read(self, silence: float) -> bytes:
        """Answer what has come of the body, or nothing at its end; raises Broken or Silent."""
        while not self._pieces:
            if self._complete:
                return b""
            self._check()
            await self._wait(silence)
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        if self._buffered > _MOST_BUFFERED and self.alive and self._transport is not None:
            self._transport.resume_reading()
        self._buffered = 0
        return data

    def abort(self) -> None:
        """Close the socket at once. Idempotent."""
        if self._transport is not None:
            self._transport.abort()

    def _check(self) -> None:
        if self._failure is not None:
            raise Broken(self._failure)

    async def _wait(self, silence: float) -> None:
        self._waiter = self._loop.create_future()
        timer = self._loop.call_later(silence, _expire, self._waiter)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    async def _drained(self, silence: float) -> None:
        if not self._writable.is_set():
            try:
                async with asyncio.timeout(silence):
                    await self._writable.wait()
            except TimeoutError:
                raise Silent from None

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        # A cast, because uvloop's transports are no subclass of asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take what the socket gave."""
        if self._complete or self._failure is not None:
            # An idle connection has nothing to say; whatever this is, nobody asked for it.
            self.abort()
            return
        if not self.status:
            self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._ends_at_close = self._complete = True
        except httptools.HttpParserError as problem:
            self._fail(f"what it sent is no HTTP: {problem}")
        if not self.status and self._head_size > _LONGEST_HEAD:
            self._fail("its header fields are too long")
        if self._buffered > _MOST_BUFFERED and self.alive and self._transport is not None:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        """Take the end of what the upstream sends; the socket closes behind it."""
        self._over("it closed the connection")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection."""
        self._over(type(exc).__name__ if exc else "the connection was closed")
        self._writable.set()
        if not self.lost.done():
            self.lost.set_result(None)

    def pause_writing(self) -> None:
        """Wait with sending."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Go on sending."""
        self._writable.set()

    def _over(self, reason: str) -> None:
        if self.status and self._ends_at_close:
            self._complete = True
        elif not self._complete and self._failure is None:
            self._failure = reason
        self._wake()

    def _fail(self, reason: str) -> None:
        self._failure = reason
        self.abort()

    def _wake(self) -> None:
        ready = self._pieces or self._complete or self._failure is not None or self.status
        if ready and self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What the parser calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field; those behind the body are trailers, which nobody is told of."""
        if not self.status:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Take the head's end; interim answers are passed over."""
        status = self._parser.get_status_code()
        self._interim = 100 <= status < 200 and status != 101  # noqa: PLR2004 - RFC 9110 section 15.2
        if self._interim:
            self.headers = []
            return
        self._ends_at_close = not any(
            name.lower() == b"content-length"
            or (name.lower() == b"transfer-encoding" and b"chunked" in value.lower())
            for name, value in self.headers
        )
        self.status = status
        self._keeps_alive = self._parser.should_keep_alive()
        if self._method == "HEAD":
            # The parser would wait for the body that the fields describe.
            self._complete = True

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        if self._method != "HEAD":
            self._pieces.append(body)
            self._buffered += len(body)

    def on_message_complete(self) -> None:
        """Take the end of an answer whose fields say how long it is."""
        if not self._interim:
            self._complete = True
            self._ends_at_close = False


def _expire(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_exception(Silent())
