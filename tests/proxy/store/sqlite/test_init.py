"""The SQLite store keeps what it took, and says what is wrong when it can't."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from proxy.anchors import lookup_keys, match, places
from proxy.conversation import Message, spine
from proxy.pending import Pending
from proxy.splice import Delivery, encode
from proxy.store import HitQuery, SplicePlace, StoreUnavailable
from proxy.store.sqlite import SqliteStore
from proxy.views import build
from tests.support.audit_rows import a_hit, a_turn

pytestmark = pytest.mark.anyio

PLACE = SplicePlace("whole:1", ("a", "b"))


def user(text: str) -> bytes:
    return text.encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "ttsr.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    opened = await SqliteStore.open(path, busy=0.05)
    yield opened
    await opened.close()


async def test_append_is_found_by_any_of_its_keys(store: SqliteStore) -> None:
    """One read finds every splice that has one of the keys, oldest first, each once."""
    other = SplicePlace("part:2", ())
    first = await store.append("me", [PLACE, other], b"one", 1.0)
    second = await store.append("me", [other], b"two", 2.0)
    found = await store.find("me", ["whole:1", "part:2", "part:2", "none"])
    assert [(entry.id, entry.places, entry.payload) for entry in found] == [
        (first, (PLACE, other), b"one"),
        (second, (other,), b"two"),
    ]
    assert first < second


async def test_find_is_separated_by_tenant(store: SqliteStore) -> None:
    """Nobody sees or changes another tenant's splices."""
    number = await store.append("me", [PLACE], b"mine", 1.0)
    await store.amend("you", number, b"yours")
    assert await store.find("you", [PLACE.key]) == ()
    assert [entry.payload for entry in await store.find("me", [PLACE.key])] == [b"mine"]


async def test_find_takes_more_keys_than_a_statement_has_parameters(store: SqliteStore) -> None:
    """A long conversation is still one read."""
    await store.append("me", [SplicePlace("k:69999", ())], b"x", 1.0)
    assert len(await store.find("me", [f"k:{number}" for number in range(70_000)])) == 1
    assert await store.find("me", []) == ()


async def test_amend_replaces_a_payload(store: SqliteStore) -> None:
    """What worked is what is found from then on."""
    number = await store.append("me", [PLACE], b"one", 1.0)
    await store.amend("me", number, b"two")
    assert [entry.payload for entry in await store.find("me", [PLACE.key])] == [b"two"]


async def test_store_keeps_everything_over_a_restart(store: SqliteStore, path: Path) -> None:
    """Splices, audit rows and the secret are there again, and ids go on rising."""
    number = await store.append("me", [PLACE], b"one", 1.0)
    secret = await store.secret()
    await store.record([a_hit()], [a_turn()])
    await store.close()
    again = await SqliteStore.open(path)
    try:
        assert [entry.id for entry in await again.find("me", [PLACE.key])] == [number]
        assert await again.secret() == secret
        assert len(secret) == 32
        assert len(await again.hits(HitQuery())) == len(await again.turns(9)) == 1
        assert await again.append("me", [PLACE], b"two", 1.0) > number
    finally:
        await again.close()


async def test_hits_are_filtered_and_paged_newest_first(store: SqliteStore) -> None:
    """Every filter narrows, the cursor goes on below the last id."""
    rows = [
        a_hit(rule="a", time=1.0),
        a_hit(rule="b", surface="tool", tool="write", target_path="x.ts", leaked=True),
        a_hit(rule="a", action="remind", conversation="d"),
    ]
    ids = await store.record(rows, [])
    assert list(ids) == sorted(ids)
    assert [row.id for row in await store.hits(HitQuery(limit=2))] == [ids[2], ids[1]]
    assert [row.id for row in await store.hits(HitQuery(cursor=ids[1]))] == [ids[0]]
    for query, expected in [
        (HitQuery(rule="a"), [ids[2], ids[0]]),
        (HitQuery(surface="tool"), [ids[1]]),
        (HitQuery(action="remind"), [ids[2]]),
        (HitQuery(conversation="d", rule="b"), []),
        (HitQuery(since=2.0), [ids[2], ids[1]]),
        (HitQuery(limit=0), []),
    ]:
        assert [row.id for row in await store.hits(query)] == expected
    assert (await store.hits(HitQuery(rule="b")))[0] == a_hit(
        id=ids[1], rule="b", surface="tool", tool="write", target_path="x.ts", leaked=True
    )


async def test_turns_come_back_as_they_were(store: SqliteStore) -> None:
    """Missing usage, undecided cures and unledgered turns keep their meaning."""
    rows = [a_turn(), a_turn(cured=None, usage=(), unledgered=True), a_turn(cured=False)]
    assert await store.record([], rows) == ()
    assert list(await store.turns(2)) == [rows[2], rows[1]]
    assert await store.record([], []) == ()


async def test_counts_are_totals_by_rule_and_action(store: SqliteStore) -> None:
    """Each rule and action once."""
    await store.record([a_hit(), a_hit(), a_hit(action="remind"), a_hit(rule="b")], [])
    counts = [(row.rule, row.action, row.count) for row in await store.counts()]
    assert counts == [("b", "interrupt", 1), ("no-any", "interrupt", 2), ("no-any", "remind", 1)]


async def test_record_takes_lone_surrogates(store: SqliteStore) -> None:
    """Half a character in an excerpt does not lose the row."""
    await store.record([a_hit(excerpt="a\ud83d b")], [])
    assert (await store.hits(HitQuery()))[0].excerpt == "a\ufffd b"


async def test_purge_deletes_what_is_older_and_counts_it(store: SqliteStore) -> None:
    """Splices lose their keys too; newer rows stay."""
    for time_of in (1.0, 9.0):
        await store.append("me", [PLACE], b"x", time_of)
    await store.record([a_hit(time=1.0)] * 1100, [a_turn(time=1.0)])
    await store.record([a_hit(time=9.0)], [])
    assert await store.purge(5.0) == 1 + 1100 + 1
    assert len(await store.find("me", [PLACE.key])) == 1
    assert len(await store.hits(HitQuery())) == 1
    assert await store.turns(9) == ()


async def test_files_and_folder_are_the_owners_alone(store: SqliteStore, path: Path) -> None:
    """Nobody else on the machine reads what a model wrote."""
    await store.append("me", [PLACE], b"x", 1.0)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {"ttsr.db": 0o600, "ttsr.db-wal": 0o600, "ttsr.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_locked_database_is_reported_and_works_again(store: SqliteStore, path: Path) -> None:
    """Another process's long write fails ours, while reads go on."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another process"):
            await store.append("me", [PLACE], b"x", 1.0)
        assert not await store.ready()
        assert await store.find("me", [PLACE.key]) == ()
        other.execute("ROLLBACK")
    assert await store.append("me", [PLACE], b"x", 1.0)
    assert await store.ready()


async def test_full_disk_is_reported_and_works_again(store: SqliteStore) -> None:
    """A splice that does not fit leaves nothing behind."""

    def limit(pages: int) -> None:
        connection = store._writer._connection
        assert connection is not None
        connection.execute(f"PRAGMA max_page_count = {pages}")

    limit(1)
    with pytest.raises(StoreUnavailable, match="no room left"):
        await store.append("me", [PLACE], b"x" * 100_000, 1.0)
    assert await store.find("me", [PLACE.key]) == ()
    limit(1_000_000)
    assert await store.append("me", [PLACE], b"x" * 100_000, 1.0)


async def test_read_only_database_is_reported_and_works_again(store: SqliteStore) -> None:
    """The connection that found the file read-only is given up, the next one writes."""
    assert store._writer._connection is not None
    store._writer._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreUnavailable, match="read-only"):
        await store.append("me", [PLACE], b"x", 1.0)
    assert await store.append("me", [PLACE], b"x", 1.0)


async def test_deleted_database_is_made_anew(store: SqliteStore, path: Path) -> None:
    """Rows are not written into a file that nobody can reach any more."""
    await store.append("me", [PLACE], b"x", 1.0)
    for file in path.parent.iterdir():
        file.unlink()
    assert await store.find("me", [PLACE.key]) == ()
    await store.append("me", [PLACE], b"y", 1.0)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT payload FROM splice").fetchall() == [(b"y",)]


def damage(path: Path) -> None:
    path.write_bytes(b"not a database, " * 1000)
    for file in path.parent.glob("*-*"):
        file.unlink()


async def test_damaged_database_is_reported_and_works_again(store: SqliteStore, path: Path) -> None:
    """Once the bad file is moved away a new one is made."""
    await store.close()
    damage(path)
    with pytest.raises(StoreUnavailable, match="damaged"):
        await SqliteStore.open(path)
    await asyncio.to_thread(path.unlink)
    again = await SqliteStore.open(path)
    assert await again.ready()
    await again.close()


async def test_closed_store_says_so(store: SqliteStore) -> None:
    """Late calls are refused, closing twice is no fault."""
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable, match="was closed"):
        await store.find("me", ["k"])
    assert not await store.ready()


async def test_caller_that_stops_waiting_leaves_nothing_half_done(
    store: SqliteStore, path: Path
) -> None:
    """A cancelled append is whole or absent, and the next one is not inside it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await store.append("me", [PLACE], b"x", 1.0)
        other.execute("ROLLBACK")
    await store.append("me", [PLACE], b"y", 1.0)
    assert {entry.payload for entry in await store.find("me", [PLACE.key])} >= {b"y"}


async def test_waiting_for_a_lock_never_blocks_the_event_loop(path: Path) -> None:
    """Other turns go on while one waits for the database."""
    store = await SqliteStore.open(path, busy=0.3)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(store.append("me", [PLACE], b"x", 1.0))
        started = time.perf_counter()
        await asyncio.sleep(0)
        assert time.perf_counter() - started < 0.2
        assert not waiting.done()
        other.execute("ROLLBACK")
        assert await waiting
    await store.close()


async def test_long_audit_query_holds_no_turn_up(store: SqliteStore) -> None:
    """The ledger is read and written while someone reads the audit."""
    began, end = threading.Event(), threading.Event()

    def slow(connection: sqlite3.Connection) -> None:
        connection.execute("SELECT count(*) FROM hit").fetchone()
        began.set()
        assert end.wait(20)

    asking = asyncio.ensure_future(store._audit.run(slow))
    await asyncio.to_thread(began.wait, 20)
    queued = asyncio.ensure_future(store.counts())
    await store.append("me", [PLACE], b"x", 1.0)
    assert [entry.payload for entry in await store.find("me", [PLACE.key])] == [b"x"]
    assert not asking.done()
    assert not queued.done()
    end.set()
    await asking
    assert await queued == ()


WRITER = """
import asyncio, pathlib, sys
from proxy.store import SplicePlace
from proxy.store.sqlite import SqliteStore

async def main():
    store = await SqliteStore.open(pathlib.Path(sys.argv[1]), busy=5)
    for number in range(50):
        await store.append("me", [SplicePlace("k", ())], sys.argv[2].encode(), 1.0)
    await store.close()

asyncio.run(main())
"""


async def test_two_processes_write_one_database(path: Path) -> None:
    """Both make it, both append, nothing is lost."""
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(path), name)
        for name in "ab"
    ]
    assert [await process.wait() for process in processes] == [0, 0]
    store = await SqliteStore.open(path)
    found = [entry.payload for entry in await store.find("me", ["k"])]
    assert (found.count(b"a"), found.count(b"b")) == (50, 50)
    await store.close()


async def test_model_view_is_the_same_after_every_restart(path: Path) -> None:
    """Another process that opens the file places every splice as the first one did."""
    messages = [Message("user", "go")]
    for number in range(4):
        store = await SqliteStore.open(path)
        got = Message("assistant", f"ha\n\nanswer {number}")
        pending = Pending.behind(messages, user).interrupted(
            f"note {number}", [Delivery(f"rule {number}", "h")]
        )
        splice = pending.abandoned("ha\n\n").finish(got.text)
        assert splice is not None
        await store.append("me", places(got, spine(messages)), encode(splice), 1.0)
        messages += [got, Message("user", "more")]
        await store.close()
        again = await SqliteStore.open(path)
        read = spine(messages)
        view = build(messages, match(read, await again.find("me", lookup_keys(read))), user)
        await again.close()
        assert view.placed == tuple(range(1, number + 2))
        assert view.delivered == {
            Delivery(f"rule {each}", "h"): number + 1 - each for each in range(number + 1)
        }
