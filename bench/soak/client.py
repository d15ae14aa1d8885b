"""The clients of the soak: each plays one stream after the other, and has it judged."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from bench.soak.answer import Answer
from bench.soak.script import Kind, Script

# Far beyond what any script takes.
_PATIENCE = 90.0
_LEAVING = {Kind.LEAVE, Kind.LEAVE_INTERRUPTED}
_WRITE_TOOL = {
    "type": "function",
    "function": {
        "name": "write",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        },
    },
}


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one stream. `told`: what the next request's answer said, where there is one."""

    script: Script
    answer: Answer
    told: str | None = None

    def fault(self, *, unguarded: bool) -> str | None:
        """Say what is wrong with it, or nothing; `unguarded` as in `Script.fault`."""
        fault = self.script.fault(self.answer, unguarded=unguarded)
        if fault is None and self.told is not None and not unguarded:
            wanted = f"told {self.script.number}"
            fault = None if self.told == wanted else f"next request: {self.told!r}"
        return fault


@dataclass(slots=True)
class Connection:
    """One connection to the proxy."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def ask(self, body: dict[str, Any]) -> None:
        """Send a request."""
        content = json.dumps(body).encode()
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
        )
        self.writer.write(head.encode() + content)

    async def answer(self, events: int | None = None) -> Answer:
        """Read the answer, or as many events of it."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = int(head.split(" ", 2)[1])
        body = bytearray()
        try:
            async for piece in self._pieces(head):
                body += piece
                if events is not None and body.count(b"\n\n") >= events:
                    return Answer(status, bytes(body), cut=True)
        except (asyncio.IncompleteReadError, ConnectionError):
            return Answer(status, bytes(body), cut=True)
        return Answer(status, bytes(body))

    async def _pieces(self, head: str) -> AsyncIterator[bytes]:
        if "transfer-encoding: chunked" not in head:
            length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
            yield await self.reader.readexactly(length)
            return
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readuntil(b"\r\n")


@asynccontextmanager
async def connection(port: int) -> AsyncIterator[Connection]:
    """Connect, and leave for good."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        yield Connection(reader, writer)
    finally:
        writer.transport.abort()


async def play(port: int, script: Script) -> Played:
    """Play one stream; what goes wrong with the connection is told as an answer, too."""
    try:
        async with asyncio.timeout(_PATIENCE), connection(port) as opened:
            return await _play(opened, script)
    except TimeoutError:
        return Played(script, Answer(0, b"no end in time"))
    except (OSError, EOFError, ValueError) as problem:
        return Played(script, Answer(0, repr(problem).encode()))


async def _play(opened: Connection, script: Script) -> Played:
    asked = {"role": "user", "content": f"Say {script.number}."}
    body: dict[str, Any] = {"model": script.model, "messages": [asked], "stream": script.streamed}
    if script.calls:
        body["tools"] = [_WRITE_TOOL]
    opened.ask(body)
    events = script.breaks_at() if script.kind in _LEAVING else None
    played = Played(script, await opened.answer(events))
    shown = played.answer.shown(streamed=script.streamed)
    if script.follow_up is None or isinstance(shown, str):
        return played
    said = {"role": "assistant", "content": shown.text}
    more = [asked, said, {"role": "user", "content": "Go on."}]
    opened.ask({"model": f"{script.model}-next", "messages": more, "stream": True})
    following = (await opened.answer()).shown(streamed=True)
    return replace(played, told=following if isinstance(following, str) else following.text)


async def state(port: int) -> dict[str, int]:
    """What the upstream says of its connections."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /state HTTP/1.1\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    told: dict[str, int] = json.loads(await reader.readuntil(b"}"))
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    return told
