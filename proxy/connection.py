"""uvicorn's HTTP protocol, without what would lie idle beside every open stream.

It makes three deques for each connection with a request: two in events, which hardly ever have
more than one waiter, and one for requests that come pipelined.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Self

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from proxy.client import LEAVING, WRITING, WriteNow
from proxy.few import Few


class Signal(asyncio.Event):
    """An event whose waiters stand in a list, made when there are some."""

    def __init__(self) -> None:
        self._is_set = False
        self._waiting: list[asyncio.Future[Literal[True]]] | None = None

    def __repr__(self) -> str:
        return f"Signal({'set' if self._is_set else 'unset'})"

    def is_set(self) -> bool:
        """Whether nobody has to wait."""
        return self._is_set

    def set(self) -> None:
        """Wake all that wait."""
        self._is_set = True
        for waiter in self._waiting or ():
            if not waiter.done():
                waiter.set_result(True)

    def clear(self) -> None:
        """Let those wait that ask from now on."""
        self._is_set = False

    async def wait(self) -> Literal[True]:
        """Wait until it is set."""
        if self._is_set:
            return True
        waiter: asyncio.Future[Literal[True]] = asyncio.get_running_loop().create_future()
        if self._waiting is None:
            self._waiting = []
        self._waiting.append(waiter)
        try:
            return await waiter
        finally:
            self._waiting.remove(waiter)


class _Flow(FlowControl):
    """uvicorn's, on a signal; it also tells when the client has left."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._left = False
        self._told: tuple[Callable[[], None], ...] = ()
        self._transport = transport
        self.read_paused = False
        self.write_paused = False
        self._is_writable_event = Signal()
        self._is_writable_event.set()

    def tell(self, left: Callable[[], None]) -> None:
        """Have `left` called once the client has left, which is noticed only while it is read."""
        self.resume_reading()
        self._told += (left,)
        if self._left:
            left()

    def forget(self, left: Callable[[], None]) -> None:
        """Call it no more."""
        self._told = tuple(each for each in self._told if each != left)

    def write(self, data: bytes) -> bool:
        """Write a chunk, as uvicorn would; False where the client does not read, or has left.

        For the one message that streams are made of, its coroutine costs more than what it does.
        """
        if self.write_paused or self._left:
            return False
        self._transport.write(b"%x\r\n%b\r\n" % (len(data), data))
        return True

    def lost(self) -> None:
        """The connection is gone."""
        self._left = True
        for left in self._told:
            left()


class _Unknown(int):
    """How long an answer will be that ends with its connection: as long as it gets."""

    def __lt__(self, _length: int) -> bool:
        return False

    def __isub__(self, _length: int) -> Self:
        return self


class LeanProtocol(HttpToolsProtocol):
    """Serves one connection.

    A client of HTTP/1.0 knows no chunks, in which uvicorn would send it an answer of unknown
    length; the end of such an answer is that of the connection, which uvicorn never keeps then.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.pipeline = Few()  # type: ignore[assignment] # it does all that is done with it

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Begin to serve."""
        super().connection_made(transport)
        self.flow = _Flow(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and say so."""
        super().connection_lost(exc)
        flow = self.flow
        if isinstance(flow, _Flow):
            flow.lost()

    def on_message_begin(self) -> None:
        """Begin a request; what answers it may ask its scope for who leaves."""
        super().on_message_begin()
        self.scope[LEAVING] = self.flow  # type: ignore[literal-required] # our own extension

    def on_headers_complete(self) -> None:
        """Begin a request; its task has not run yet, so nobody waits for the event."""
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is before:
            return
        self.cycle.message_event = Signal()
        # The cycle holds the scope, and must go with its task.
        writing = partial(_writing, weakref.ref(self.cycle))
        self.scope[WRITING] = writing  # type: ignore[literal-required] # the same
        if self.scope["http_version"] == "1.0":
            self.cycle.chunked_encoding = False
            self.cycle.expected_content_length = _Unknown()


def _writing(cycle: weakref.ref[RequestResponseCycle]) -> WriteNow | None:
    """Tell how pieces of its body are written straight, where it is sent in chunks."""
    begun = cycle()
    if begun is None or not begun.chunked_encoding or not isinstance(begun.flow, _Flow):
        return None
    return begun.flow.write
