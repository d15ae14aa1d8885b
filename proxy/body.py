"""An upstream's body, read piece by piece, with a look at its beginning first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from proxy.headers import first
from proxy.upstream import UpstreamResponse

_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_EVENT_STREAM = b"text/event-stream"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_Result = TypeVar("_Result")


class Body:
    """The body of one answer, its content coding undone where that is known."""

    def __init__(self, response: UpstreamResponse) -> None:
        self._type = first(response.headers, b"content-type") or b""
        self._read = response.read_decoded if response.decodable else response.read
        self._response: UpstreamResponse | None = response if response.decodable else None
        self._ahead = bytearray()

    async def read(self) -> bytes:
        """The next piece; empty at the end. Raises `errors.UpstreamFault`."""
        if self._ahead:
            ahead, self._ahead = bytes(self._ahead), bytearray()
            return ahead
        return await self._read()

    def until(self, take: Callable[[bytes], _Result | None]) -> Awaitable[_Result]:
        """Hand each piece to `take`, empty at the end, until it says something; give that.

        Raises `errors.UpstreamFault`, and what `take` raises. See `UpstreamResponse.until`.
        """
        if self._ahead or self._response is None:
            return self._read_until(take)
        return self._response.until(take)

    async def rest(self, limit: int) -> bytes:
        """Everything that is left, or more than `limit` bytes of it."""
        whole = bytearray()
        while len(whole) <= limit:
            piece = await self.read()
            if not piece:
                break
            whole += piece
        return bytes(whole)

    async def is_event_stream(self) -> bool:
        """Whether it is one: by its content type, else by how it begins."""
        if self._type.strip().lower().startswith(_EVENT_STREAM):
            return True
        while len(self._ahead) < len(_BOM) or self._is_open():
            piece = await self._read()
            if not piece:
                break
            self._ahead += piece
        return self._start().startswith(_FIELDS)

    async def _read_until(self, take: Callable[[bytes], _Result | None]) -> _Result:
        while self._ahead or self._response is None:
            result = take(await self.read())
            if result is not None:
                return result
        return await self._response.until(take)

    def _is_open(self) -> bool:
        """Whether what was read so far may still become a field of an event."""
        start = self._start()
        return any(name.startswith(start) and name != start for name in _FIELDS)

    def _start(self) -> bytes:
        start = bytes(self._ahead[:64])
        if len(self._ahead) > len(start) and not start.strip(_BLANK):
            start = bytes(self._ahead)
        return start.removeprefix(_BOM).lstrip(_BLANK)


class Whole(Body):
    """A whole JSON document, read as a stream of one event and an end mark."""

    def __init__(self, document: bytes) -> None:
        line = document.replace(b"\n", b" ").replace(b"\r", b" ")
        self._data = b"data: " + line.strip() + b"\n\ndata: [DONE]\n\n"
        self._ahead = bytearray()
        self._response = None

    async def read(self) -> bytes:
        """The stream, then nothing."""
        data, self._data = self._data, b""
        return data
