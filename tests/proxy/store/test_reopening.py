from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from proxy.store import HitQuery, SplicePlace, Store, StoreUnavailable
from proxy.store.reopening import ReopeningStore
from proxy.store.sqlite import SqliteStore
from tests.support.audit_rows import a_hit, a_turn

pytestmark = pytest.mark.anyio

PLACE = SplicePlace("whole:1", ())


class Opener:
    """Opens a real store once it is allowed to; `refused` is set by a try that fails."""

    def __init__(self, path: Path) -> None:
        self.allowed = False
        self.tries = 0
        self.refused = anyio.Event()
        self.hanging: anyio.Event | None = None
        self._path = path

    async def __call__(self) -> Store:
        self.tries += 1
        if self.hanging is not None:
            await self.hanging.wait()
        if not self.allowed:
            self.refused.set()
            raise StoreUnavailable("the disk is full")
        return await SqliteStore.open(self._path)


@pytest.fixture
def opener(tmp_path: Path) -> Opener:
    return Opener(tmp_path / "t.db")


async def test_every_call_says_why_the_store_is_down(opener: Opener) -> None:
    """Nobody waits for it, and nobody opens it in passing."""
    store = ReopeningStore(opener)
    with pytest.raises(StoreUnavailable, match="not open yet"):
        await store.find("me", ["k"])
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await store.open()
    calls = [
        store.find("me", []), store.append("me", [PLACE], b"", 1.0), store.amend("me", 1, b""),
        store.record([], []), store.hits(HitQuery()), store.counts(), store.turns(1),
        store.secret(), store.purge(1.0),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(StoreUnavailable, match="disk is full"):
            await call
    assert not await store.ready()
    assert opener.tries == 1
    await store.close()


async def test_store_is_opened_as_soon_as_it_can_be(opener: Opener) -> None:
    """It is tried again and again, and then everything works."""
    store = ReopeningStore(opener, pause=0.01)
    async with anyio.create_task_group() as group:
        group.start_soon(store.run)
        await opener.refused.wait()
        assert not await store.ready()
        opener.allowed = True
    assert await store.ready()
    number = await store.append("me", [PLACE], b"one", 1.0)
    await store.amend("me", number, b"two")
    assert [entry.payload for entry in await store.find("me", [PLACE.key])] == [b"two"]
    await store.record([a_hit()], [a_turn()])
    assert len(await store.hits(HitQuery())) == len(await store.turns(9)) == 1
    assert len(await store.counts()) == 1
    assert len(await store.secret()) == 32
    assert await store.purge(2.0) == 1
    await store.close()


async def test_open_store_is_not_opened_again(opener: Opener) -> None:
    """The background task has nothing left to do."""
    opener.allowed = True
    store = ReopeningStore(opener)
    await store.open()
    await store.run()
    assert opener.tries == 1
    await store.close()


async def test_opening_is_never_left_half_done(opener: Opener) -> None:
    """Whoever is cancelled while it opens leaves an open store behind, not a lost one."""
    store = ReopeningStore(opener)
    opener.allowed, opener.hanging = True, anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(store.run)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
        opener.hanging.set()
    assert await store.ready()
    await store.close()
