from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from starlette.types import Message

from proxy.client import Client, until_client_leaves
from proxy.errors import BadRequest, LedgerDown
from tests.support.python_calls import calls_of

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
    sent = b"".join(message["body"] for message in wire.sent)
    assert sent == b"".join(b"%d" % n for n in range(20))


async def test_pieces_go_straight_to_a_server_that_takes_them() -> None:
    """What it does not take is said by a message, and nothing overtakes what waits for that."""
    wire = Wire()
    taken: list[bytes] = []

    def directly(data: bytes) -> bool:
        if data == b"two":
            return False
        taken.append(data)
        return True

    client = Client(wire.send, lambda: directly)
    await client.start(200, [])
    # Beside it the server's, the loop's clock, the one here, and two that end the counting.
    assert calls_of(lambda: client.write_now(b"zero")) <= 6
    before = client.last_sent
    assert client.write_now(b"one")
    assert client.last_sent >= before
    assert not client.write_now(b"two")
    assert not client.write_now(b"three")
    assert client.waits
    await client.flush()
    assert not client.waits
    assert client.write_now(b"four")
    await client.end()
    assert not client.write_now(b"behind the end")
    assert taken == [b"zero", b"one", b"four"]
    assert [message.get("body") for message in wire.sent] == [None, b"two", b"three", b""]


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


async def test_what_is_written_soon_goes_before_what_is_written_later() -> None:
    """Also where the client is slow to take what came before; nothing is lost at the end."""
    wire = Wire()
    client = Client(wire.send)
    async with anyio.create_task_group() as group:
        group.start_soon(client.write, b"one")
        await anyio.lowlevel.checkpoint()
        client.write_soon(b"two")
        client.write_soon(b" three")
        await client.write(b"four")
    client.write_soon(b"five")
    await client.end()
    await anyio.wait_all_tasks_blocked()
    sent = [message["body"] for message in wire.sent]
    assert b"".join(sent) == b"onetwo threefourfive"
    assert sent[-1] == b""


async def test_what_is_written_soon_needs_nobody_to_go_on() -> None:
    """A client that waits is told while nothing else is sent."""
    wire = Wire()
    client = Client(wire.send)
    client.last_sent = 0.0
    client.write_soon(b": still here")
    await anyio.wait_all_tasks_blocked()
    assert [message["body"] for message in wire.sent] == [b": still here"]
    assert client.last_sent > 0


async def test_work_is_cancelled_when_the_client_leaves() -> None:
    """It can still do what it must."""
    wire = Wire()
    ended: list[str] = []

    async def forever() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("work")

    async with anyio.create_task_group() as group:
        group.start_soon(until_client_leaves, wire.receive, forever())
        await anyio.wait_all_tasks_blocked()
        wire.gone.set()
    assert ended == ["work"]


async def test_a_failure_of_the_work_is_raised_as_it_is() -> None:
    """Outside of any group; and the client is not listened to any more."""
    wire = Wire()

    async def fails() -> None:
        await anyio.lowlevel.checkpoint()
        raise BadRequest("no")

    with pytest.raises(BadRequest):
        await until_client_leaves(wire.receive, fails())
    await anyio.lowlevel.checkpoint()
    assert wire.gone.statistics().tasks_waiting == 0


async def test_a_client_that_cannot_be_listened_to_ends_the_work() -> None:
    """What listening raised is raised; whether the client is there could not be known."""

    async def fails() -> Message:
        raise BadRequest("no")

    with pytest.raises(BadRequest), anyio.fail_after(10):
        await until_client_leaves(fails, anyio.sleep_forever())


async def test_cancelling_from_outside_ends_the_work_and_the_listening() -> None:
    """As when the proxy stops."""
    wire = Wire()
    with anyio.move_on_after(0.01) as scope:
        await until_client_leaves(wire.receive, anyio.sleep_forever())
    assert scope.cancelled_caught
    await anyio.lowlevel.checkpoint()
    assert wire.gone.statistics().tasks_waiting == 0


class Slow:
    """A server that takes pieces at once until it is told to wait."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.ready = asyncio.Event()
        self.ready.set()
        self.cancelled = False

    async def send(self, message: Any) -> None:
        try:
            if not self.ready.is_set():
                await self.ready.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        self.sent.append(message["body"])


async def test_client_takes_pieces_without_a_task_where_the_server_does() -> None:
    """It is sent when the call is over, and later than what was sent before."""
    server = Slow()
    client = Client(server.send)
    client.last_sent = 0
    assert client.write_now(b"a")
    assert server.sent == [b"a"]
    assert client.last_sent > 0


async def test_client_goes_on_with_what_had_to_wait() -> None:
    """Pieces behind it wait too; whoever writes next brings all of it out in order."""
    for finish in ("flush", "write", "end"):
        server = Slow()
        client = Client(server.send)
        server.ready.clear()
        assert not client.write_now(b"a")
        assert not client.write_now(b"b")
        server.ready.set()
        assert not client.write_now(b"c")
        assert server.sent == []
        await (client.write(b"d") if finish == "write" else getattr(client, finish)())
        last = {"flush": [b"bc"], "write": [b"bcd"], "end": [b"bc", b""]}[finish]
        assert server.sent == [b"a", *last]
        assert client.write_now(b"e")
        assert server.sent[-1] == b"e"


async def test_client_does_not_overtake_a_writer_that_waits() -> None:
    """One that waits in a task of its own."""
    server = Slow()
    client = Client(server.send)
    server.ready.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(client.write(b"a"))
        await asyncio.sleep(0)
        assert not client.write_now(b"b")
        server.ready.set()
        await client.flush()
    assert server.sent == [b"a", b"b"]


@pytest.mark.parametrize("first", ["write_now", "write"])
async def test_what_waited_when_a_writer_was_cancelled_comes_before_what_follows(
    first: str,
) -> None:
    """A turn that is stopped has last words for a client that is slow: no hole is before them."""
    server = Slow()
    client = Client(server.send)
    server.ready.clear()
    if first == "write_now":
        assert not client.write_now(b"a")
        writing = asyncio.ensure_future(client.flush())
    else:
        writing = asyncio.ensure_future(client.write(b"a"))
    await asyncio.sleep(0)
    assert not client.write_now(b"b")
    assert client.waits
    for again in (client.flush, client.flush):
        writing.cancel()
        await asyncio.wait({writing})
        writing = asyncio.ensure_future(again())
        await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait({writing})
    server.ready.set()
    await client.write(b"last words")
    assert b"".join(server.sent) == b"ablast words"
    assert not client.waits


async def test_client_that_is_left_while_it_waits_ends_what_it_began() -> None:
    """The server learns of it, and nothing is locked behind it."""
    server = Slow()
    client = Client(server.send)
    server.ready.clear()
    assert not client.write_now(b"a")
    waiting = asyncio.ensure_future(client.flush())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert server.cancelled
    server.ready.set()
    await client.end()
    assert server.sent == [b"a", b""]  # a server whose client is gone drops both


async def test_client_gets_the_servers_fault_where_it_waits() -> None:
    """Or at once, where the server does not wait."""

    async def fail(_message: Any) -> None:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        Client(fail).write_now(b"a")

    async def fail_later(_message: Any) -> None:
        await asyncio.sleep(0)
        raise OSError("gone")

    client = Client(fail_later)
    assert not client.write_now(b"a")
    with pytest.raises(OSError, match="gone"):
        await client.flush()


class Departure:
    """Tells who asks, as a server does; notes who has asked."""

    def __init__(self) -> None:
        self.told: list[Callable[[], None]] = []

    def tell(self, left: Callable[[], None]) -> None:
        self.told.append(left)

    def forget(self, left: Callable[[], None]) -> None:
        self.told.remove(left)


async def test_where_the_server_tells_who_leaves_nothing_is_received() -> None:
    """The work is cancelled all the same; what it raises, or that it ends, is seen as ever."""
    departure = Departure()
    ended: list[str] = []

    async def receive() -> Message:
        raise AssertionError

    async def forever() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("work")

    async def fails() -> None:
        raise BadRequest("no")

    async with anyio.create_task_group() as group:
        group.start_soon(until_client_leaves, receive, forever(), departure)
        await anyio.wait_all_tasks_blocked()
        for left in tuple(departure.told):
            left()
    assert ended == ["work"]
    with pytest.raises(BadRequest):
        await until_client_leaves(receive, fails(), departure)
    await until_client_leaves(receive, anyio.lowlevel.checkpoint(), departure)
    assert departure.told == []


async def test_what_a_cancelled_writer_left_comes_before_what_follows() -> None:
    """Also where it waited for another writer, and not for the server."""
    server = Slow()
    client = Client(server.send)
    server.ready.clear()
    first, second = (asyncio.ensure_future(client.write(piece)) for piece in (b"a", b"b"))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    server.ready.set()
    await first
    await client.write(b"c")
    assert b"".join(server.sent) == b"abc"
