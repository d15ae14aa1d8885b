from __future__ import annotations

from typing import Any

import anyio
import pytest
from starlette.types import Message

from proxy.client import Client, until_client_leaves
from proxy.errors import BadRequest, LedgerDown

pytestmark = pytest.mark.anyio


class Wire:
    """Both directions of one ASGI exchange."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.gone = anyio.Event()

    async def send(self, message: Any) -> None:
        await anyio.lowlevel.checkpoint()
        self.sent.append(message)

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}


async def test_client_sends_head_pieces_and_end() -> None:
    """Nothing is written for nothing."""
    wire = Wire()
    client = Client(wire.send)
    assert not client.started
    await client.start(200, [(b"a", b"b")])
    await client.write(b"")
    await client.write(b"one")
    await client.end()
    assert client.started
    assert [message.get("body") for message in wire.sent] == [None, b"one", b""]
    assert [message.get("more_body") for message in wire.sent] == [None, True, False]


async def test_client_writes_one_piece_at_a_time() -> None:
    """Pieces of two tasks go out in the order in which they were asked for."""
    wire = Wire()
    client = Client(wire.send)
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(client.write, b"%d" % number)
    assert [message["body"] for message in wire.sent] == [b"%d" % n for n in range(20)]


async def test_client_gets_a_fault_in_openais_shape() -> None:
    """Status, a body that every client reads, and when to come back where that is known."""
    wire = Wire()
    await Client(wire.send).fault(LedgerDown("try again", retry_after=3))
    head, body = wire.sent
    assert head["status"] == 503
    assert (b"retry-after", b"3") in head["headers"]
    assert (b"content-length", str(len(body["body"])).encode()) in head["headers"]
    assert b'"ledger_unavailable"' in body["body"]
    other = Wire()
    await Client(other.send).fault(BadRequest("no"))
    assert not any(name == b"retry-after" for name, _ in other.sent[0]["headers"])


async def test_work_is_cancelled_when_the_client_leaves() -> None:
    """What runs beside it ends too."""
    wire = Wire()
    ended: list[str] = []

    async def forever(name: str) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(
            until_client_leaves,
            wire.receive,
            lambda: forever("work"),
            lambda: forever("beside"),
        )
        await anyio.wait_all_tasks_blocked()
        wire.gone.set()
    assert sorted(ended) == ["beside", "work"]


async def test_what_runs_beside_ends_with_the_work() -> None:
    """A failure of the work is raised as it is, outside of any group."""
    wire = Wire()

    async def fails() -> None:
        await anyio.lowlevel.checkpoint()
        raise BadRequest("no")

    with pytest.raises(BadRequest):
        await until_client_leaves(wire.receive, fails, anyio.sleep_forever)
