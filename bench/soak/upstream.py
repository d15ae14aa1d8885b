"""The upstream of the soak, a program of its own: it does to each stream what its script says.

It prints its port. `GET /state` tells how many connections are open, and how many streams the
other side left.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
from collections import Counter
from typing import Any

import uvloop

from bench.soak.script import Kind, Script, refusal, status_of
from bench.under_rules import MARK

_LATE = 2  # how often the reissue is refused before it is answered; the proxy asks three times


class _Stream:
    """One answer, chunk by chunk."""

    def __init__(self, script: Script, writer: asyncio.StreamWriter) -> None:
        self.script, self.writer = script, writer

    def head(self) -> None:
        """Begin a stream."""
        self.writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )

    async def event(self, data: str) -> None:
        """Write one event as one chunk."""
        if self.writer.is_closing():
            raise ConnectionResetError
        body = f"data: {data}\n\n".encode()
        self.writer.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
        await self.writer.drain()

    async def delta(self, delta: dict[str, Any], reason: str | None = None) -> None:
        """Write one chunk of the answer."""
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        event = {"id": self.script.model, "object": "chat.completion.chunk", "created": 1}
        await self.event(json.dumps(event | {"model": "soak", "choices": [choice]}))

    async def end(self, reason: str = "stop") -> None:
        """Finish in order."""
        await self.delta({}, reason)
        await self.event("[DONE]")
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def texts(self, texts: list[str]) -> None:
        """Say some events, each after its pause."""
        for at, text in enumerate(texts):
            await asyncio.sleep(self.script.pause(at))
            await self.delta({"role": "assistant", "content": text})

    async def call(self) -> None:
        """Call the tool, its arguments in pieces."""
        arguments = self.script.arguments()
        head = {"index": 0, "id": f"call_{self.script.model}", "type": "function"}
        named = head | {"function": {"name": "write", "arguments": ""}}
        await self.delta({"role": "assistant", "tool_calls": [named]})
        for at in range(0, len(arguments), 24):
            await asyncio.sleep(self.script.pause(at) / 4)
            piece = {"index": 0, "function": {"arguments": arguments[at : at + 24]}}
            await self.delta({"tool_calls": [piece]})
        await self.end("tool_calls")


class Upstream:
    """All connections."""

    def __init__(self, violation: str) -> None:
        self.violation = violation
        self.open = 0
        self.left = 0
        self.asked_again: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request."""
        self.open += 1
        early: bytes | None = b""
        try:
            while early is not None:
                early = await self._request(early, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def _request(
        self, early: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes | None:
        """Answer one; what was read of the next one already comes back, None at the end."""
        head = (early + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        if head.startswith("GET"):
            _whole(writer, 200, json.dumps({"open": self.open, "left": self.left}).encode())
            return b""
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await reader.readexactly(int(fields["content-length"]))
        model = json.loads(body)["model"]
        async with asyncio.TaskGroup() as group:
            answering = group.create_task(self._answer(model, body.decode(), writer))
            next_one = group.create_task(_first_byte(reader))
            await asyncio.wait({answering, next_one}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self.left += 1
                answering.cancel()
            next_one.cancel()
        if answering.cancelled() or not answering.result():
            return None
        if next_one.cancelled():
            return b""
        return next_one.result() or None

    async def _answer(self, model: str, body: str, writer: asyncio.StreamWriter) -> bool:
        """Answer, and tell whether the connection goes on."""
        try:
            return await self._play(model, body, writer)
        except ConnectionError:
            return False

    async def _play(self, model: str, body: str, writer: asyncio.StreamWriter) -> bool:
        script = Script.of_model(model, self.violation)
        stream = _Stream(script, writer)
        if model.endswith("-next"):
            told = script.follow_up is not None and script.follow_up in body
            stream.head()
            await stream.delta({"content": f"{'told' if told else 'untold'} {script.number}"})
            await stream.end()
            return True
        if MARK in body:
            return await self._second(script, stream)
        return await _first(script, stream)

    async def _second(self, script: Script, stream: _Stream) -> bool:
        times = self.asked_again[script.model]
        if script.kind is Kind.REISSUE_DEAD or (script.kind is Kind.REISSUE_LATE and times < _LATE):
            self.asked_again[script.model] += 1
            _whole(stream.writer, 503, b'{"error": {"message": "busy"}}')
            return True
        del self.asked_again[script.model]
        if not script.streamed:
            _whole(stream.writer, 200, _completion(script, "".join(script.second())))
            return True
        stream.head()
        await stream.texts(script.second())
        await stream.end()
        return True


async def _first_byte(reader: asyncio.StreamReader) -> bytes:
    """Of the next request, or nothing at the connection's end."""
    try:
        return await reader.read(1)
    except ConnectionError:
        return b""


async def _first(script: Script, stream: _Stream) -> bool:
    writer = stream.writer
    if script.kind in {Kind.STATUS_429, Kind.STATUS_500}:
        _whole(writer, status_of(script.kind), refusal(script.number))
        return True
    if not script.streamed:
        await asyncio.sleep(script.pause(0))
        _whole(writer, 200, _completion(script, "".join(script.texts())))
        return True
    stream.head()
    match script.kind:
        case Kind.CALL | Kind.REFUSED_CALL:
            await stream.call()
        case Kind.BROKEN | Kind.RESET | Kind.UNENDED | Kind.ERROR_EVENT:
            await stream.texts(script.texts()[: script.breaks_at()])
            return await _fail(script.kind, stream)
        case _:
            await stream.texts(script.texts())
            await stream.end()
    return True


async def _fail(kind: Kind, stream: _Stream) -> bool:
    writer = stream.writer
    if kind is Kind.RESET:
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    elif kind is Kind.UNENDED:
        writer.write(b"0\r\n\r\n")
        return True
    elif kind is Kind.ERROR_EVENT:
        await stream.event('{"error": {"message": "out of order"}}')
        writer.write(b"0\r\n\r\n")
        return True
    return False


def _completion(script: Script, text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = {"id": script.model, "object": "chat.completion", "created": 1, "model": "soak"}
    return json.dumps(whole | {"choices": [choice]}).encode()


def _whole(writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
    head = f"HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)


async def main(violation: str) -> None:
    upstream = Upstream(violation)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
