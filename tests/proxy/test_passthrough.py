from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.types import Message

from proxy.client import BrokenAnswer
from proxy.config import Settings
from proxy.passthrough import Passed
from proxy.routing import Target
from proxy.upstream import Upstream
from tests.support.upstream import Reply, ScriptedUpstream, document

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(upstream: ScriptedUpstream) -> AsyncIterator[Upstream]:
    running = Upstream(Settings.model_validate({"upstream": {"url": upstream.url}}))
    yield running
    await running.aclose()


class Asgi:
    """The server's side of one request: messages to receive, messages that were sent."""

    def __init__(self, *received: Message) -> None:
        self.received = list(received)
        self.sent: list[Message] = []
        self.left = asyncio.Event()

    async def receive(self) -> Message:
        if self.received:
            return self.received.pop(0)
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    async def run(self, client: Upstream, *headers: tuple[bytes, bytes]) -> None:
        scope = {"type": "http", "headers": list(headers)}
        await Passed(client, "POST", Target(b"/files"))(scope, self.receive, self.send)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


def piece(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_request_is_sent_while_it_is_read(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """The pieces arrive as one body, the answer comes back."""
    upstream.script(document({"a": 1}))
    server = Asgi(piece(b"one ", more=True), piece(b"two"))
    await server.run(client, (b"transfer-encoding", b"chunked"))
    assert upstream.requests[0].body == b"one two"
    assert server.body == b'{"a": 1}'
    assert server.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


async def test_a_client_that_leaves_ends_the_exchange(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """In mid-answer: nothing more is sent, the upstream sees the close."""
    upstream.script(Reply(b"one two", gates={4: asyncio.Event()}))
    server = Asgi(piece(b""))
    running = asyncio.ensure_future(server.run(client))
    await (await upstream.exchange()).head_sent.wait()
    server.left.set()
    await running
    await (await upstream.exchange()).closed.wait()


async def test_a_client_that_leaves_in_its_upload_ends_quietly(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """Nothing is answered and nothing raised."""
    server = Asgi(piece(b"half", more=True), {"type": "http.disconnect"})
    await server.run(client, (b"content-length", b"9"))
    assert server.sent == []
    await upstream.unconnected.wait()


async def test_a_break_is_raised_once_the_answer_has_begun(
    upstream: ScriptedUpstream, client: Upstream
) -> None:
    """So that the server cuts the connection."""
    upstream.script(Reply(b"one", terminate="abort"))
    server = Asgi(piece(b""))
    with pytest.raises(BrokenAnswer):
        await server.run(client)
    assert server.sent[0]["status"] == 200
