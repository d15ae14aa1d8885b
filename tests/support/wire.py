"""A client that shows an answer exactly as it came over the socket."""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Literal, Self


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `ending`: whether the framing said that it was complete."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    ending: Literal["clean", "broken"]

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def plain(self) -> bytes:
        """The body without the coding that the upstream chose, where that is passed on."""
        if self.header("content-encoding") == "gzip":
            return zlib.decompressobj(31).decompress(self.body)
        return self.body


class Caller:
    """One connection to a server on loopback."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.status = 0
        self.headers: tuple[tuple[str, str], ...] = ()
        self._method = "GET"

    @classmethod
    async def to(cls, port: int) -> Self:
        """Connect."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 22))

    async def send(
        self,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        *,
        host: str = "127.0.0.1",
    ) -> None:
        """Send a request, with a content length where it has a body."""
        self._method = method
        fields = [("Host", host), *headers]
        if body:
            fields.append(("Content-Length", str(len(body))))
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
        await self.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)

    async def write(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._writer.write(data)
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def head(self) -> int:
        """Read the status line and the fields, past any interim answers."""
        while True:
            raw = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = raw[:-4].split("\r\n")
            pairs = [line.partition(":") for line in lines]
            self.status = int(first.split(" ")[1])
            self.headers = tuple((name.lower(), value.strip()) for name, _, value in pairs)
            if self.status >= 200:
                return self.status

    async def body(self) -> AsyncIterator[bytes]:
        """Read the body's bytes as they come; raises IncompleteReadError where it breaks off."""
        fields = dict(self.headers)
        if self._method == "HEAD" or self.status in {204, 304}:
            return
        if fields.get("transfer-encoding") == "chunked":
            while size := int(await self._reader.readuntil(b"\r\n"), 16):
                yield await self._reader.readexactly(size)
                await self._reader.readexactly(2)
            await self._reader.readuntil(b"\r\n")
        elif "content-length" in fields:
            left = int(fields["content-length"])
            while left:
                piece = await self._reader.read(left)
                if not piece:
                    raise asyncio.IncompleteReadError(b"", left)
                left -= len(piece)
                yield piece
        else:
            while piece := await self._reader.read(65536):
                yield piece

    async def answer(self) -> Answer:
        """Read the whole answer and how it ended."""
        await self.head()
        got = bytearray()
        ending: Literal["clean", "broken"] = "clean"
        try:
            async for piece in self.body():
                got += piece
        except (asyncio.IncompleteReadError, ConnectionError):
            ending = "broken"
        return Answer(self.status, self.headers, bytes(got), ending)

    def leave(self) -> None:
        """Close the connection at once."""
        self._writer.transport.abort()


@contextlib.asynccontextmanager
async def calling(port: int) -> AsyncIterator[Caller]:
    """Connect, and close at the end."""
    caller = await Caller.to(port)
    try:
        yield caller
    finally:
        caller.leave()


async def call(
    port: int,
    method: str,
    target: str,
    headers: Iterable[tuple[str, str]] = (),
    body: bytes = b"",
    *,
    host: str = "127.0.0.1",
) -> Answer:
    """Send one request on a connection of its own and read the whole answer."""
    async with calling(port) as caller:
        await caller.send(method, target, headers, body, host=host)
        return await caller.answer()
