"""A raw pipe: bytes from one socket to another, no HTTP at all. What nobody can be faster than."""

from __future__ import annotations

import asyncio
import sys
from typing import cast

import uvloop

from bench.peers import Peer, Place, nothing_missing
from bench.processes import Launch


class End(asyncio.Protocol):
    """One end of a pipe; what comes in goes out at the other."""

    def __init__(self, other: End | None = None) -> None:
        self.other = other
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way out."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Pass it on."""
        if self.other is not None and self.other.transport is not None:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        """The reader is slow: so is the writer then."""
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        """The reader has caught up."""
        if self.other is not None and self.other.transport is not None:
            self.other.transport.resume_reading()

    def connection_lost(self, problem: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """One end is gone, and the other with it."""
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()


class Inlet(End):
    """The client's end, which connects the other one."""

    def __init__(self, upstream: int) -> None:
        super().__init__()
        self.upstream = upstream
        self.early = bytearray()
        self.connecting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Go and connect."""
        super().connection_made(transport)
        self.connecting = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        _, other = await loop.create_connection(lambda: End(self), "127.0.0.1", self.upstream)
        self.other = other
        super().data_received(bytes(self.early))

    def data_received(self, data: bytes) -> None:
        """Pass it on, or keep it until there is somewhere to."""
        if self.other is None:
            self.early += data
        else:
            super().data_received(data)


async def serve(port: int, upstream: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Inlet(upstream), "127.0.0.1", port, backlog=2048)
    await server.serve_forever()


def launch(place: Place) -> Launch:
    """This file as a program."""
    argv = (sys.executable, "-m", "bench.peers.pipe", str(place.port), str(place.upstream))
    return Launch(argv, {})


PEER = Peer("pipe", nothing_missing, launch)

if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2])))
