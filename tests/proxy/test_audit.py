"""The audit's queue: never in a turn's way, written in batches, read with what is unwritten."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest

from proxy.audit import LEAD, Audit, AuditLimits, TurnLabel, hit_record
from proxy.store import HitQuery, HitRecord, RuleCount, StoreUnavailable
from rules_engine import attempt
from rules_engine.decisions import Action, Hit
from rules_engine.rule import Rule
from rules_engine.scope import Surface
from tests.support.audit_rows import a_hit, a_turn
from tests.support.memory_store import MemoryAuditLog
from tests.support.proxy import until

pytestmark = pytest.mark.anyio

QUICK = AuditLimits(gather=0.01, retry_first=0.01, retry_most=0.02, patience=1.0)
NEVER_ALONE = AuditLimits(gather=3600, patience=1.0)


@asynccontextmanager
async def running(audit: Audit) -> AsyncIterator[None]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(audit.run)
        await anyio.wait_all_tasks_blocked()
        yield
        await audit.close()


def test_hit_record_masks_the_excerpt_and_names_the_rule_and_file() -> None:
    """A hit becomes a row that may be shown."""
    rule = Rule("no-keys", "builtin-defaults:no-keys.md", "builtin", "body")
    excerpt = "a\nsk-abcdefghijkl"
    hit = Hit(rule, Surface.TOOL, 0, 3, 9, 9, excerpt, tool="edit", path="a.ts")
    label = TurnLabel("c", "t", "agent", "model")
    row = hit_record(hit, label, time=5.0, attempt=2, action=Action.REFUSE, outcome="reissued")
    assert row.excerpt == "a⏎[masked]"
    assert (row.rule, row.rule_path) == ("no-keys", "builtin-defaults:no-keys.md")
    assert (row.surface, row.tool, row.target_path, row.offset) == ("tool", "edit", "a.ts", 3)
    assert (row.action, row.attempt, row.time) == ("refuse", 2, 5.0)


def test_hit_record_shows_the_match_and_not_only_what_stands_before_it() -> None:
    """The engine's excerpt is longer than the audit's: the cut is around the match."""
    rule = Rule("no-any", "no-any.md", "native", "body")
    text = "word " * 40 + ": any" + " word" * 40
    hit = Hit(rule, Surface.TEXT, 0, 900, 905, 905, text)
    label = TurnLabel("c", "t", "agent", "model")
    row = hit_record(hit, label, time=5.0, attempt=1, action=Action.INTERRUPT, outcome="", limit=25)
    assert ": any word" in row.excerpt
    assert len(row.excerpt) == 25


def test_hit_record_knows_how_far_the_engines_excerpt_reaches() -> None:
    """Both sides agree on where in an excerpt the match stands."""
    assert LEAD == attempt._AROUND


async def test_record_is_written_in_one_batch() -> None:
    """Rows recorded close together reach the store in one transaction."""
    store = MemoryAuditLog()
    audit = Audit(store, limits=QUICK)
    async with running(audit):
        audit.record([a_hit(), a_hit("other")], a_turn())
        audit.record([a_hit("third")])
        await until(lambda: len(store.rows) == 3)
    assert store.batches == [4]
    assert [turn.turn for turn in store.turn_rows] == ["t1"]


async def test_record_cuts_batches_at_their_bound() -> None:
    """A full batch does not wait, and none is larger than the bound."""
    store = MemoryAuditLog()
    audit = Audit(store, limits=AuditLimits(batch=2, gather=3600))
    async with running(audit):
        audit.record([a_hit() for _ in range(4)])
        await until(lambda: len(store.rows) == 4)
    assert store.batches == [2, 2]


@pytest.mark.case(145)
async def test_case_145_counts_are_the_same_before_and_after_the_write() -> None:
    """Two deliveries count two, whether they are written yet or not."""
    store = MemoryAuditLog()
    audit = Audit(store, limits=NEVER_ALONE)
    async with running(audit):
        audit.record([a_hit(), a_hit()])
        before = await audit.counts()
        assert not store.rows
        assert await audit.flush()
        after = await audit.counts()
        assert len(store.rows) == 2
    assert before == after
    assert after.counts == (RuleCount("no-any", "interrupt", 2),)


async def test_counts_are_exact_in_the_middle_of_a_write() -> None:
    """A batch that is on its way is counted once."""
    store = MemoryAuditLog()
    audit = Audit(store, limits=QUICK)
    async with running(audit):
        store.gate = anyio.Event()
        audit.record([a_hit()])
        await until(lambda: store.attempts == 1)
        async with anyio.create_task_group() as tasks:
            seen: list[Sequence[RuleCount]] = []

            async def count() -> None:
                seen.append((await audit.counts()).counts)

            tasks.start_soon(count)
            await anyio.wait_all_tasks_blocked()
            store.gate.set()
    assert seen == [(RuleCount("no-any", "interrupt", 1),)]


async def test_counts_without_a_store_are_those_of_unwritten_rows() -> None:
    """A store that is down leaves what this process has in hand, and says so."""
    store = MemoryAuditLog()
    store.down = True
    audit = Audit(store, limits=QUICK)
    async with running(audit):
        audit.record([a_hit()])
        tally = await audit.counts()
    assert not tally.stored
    assert tally.counts == (RuleCount("no-any", "interrupt", 1),)


async def test_record_keeps_rows_while_the_store_is_down_and_writes_them_in_order() -> None:
    """An outage loses nothing that fits the queue."""
    store = MemoryAuditLog()
    store.down = True
    audit = Audit(store, limits=QUICK)
    async with running(audit):
        audit.record([a_hit("one"), a_hit("two")])
        await until(lambda: store.attempts > 2)
        audit.record([a_hit("three")])
        store.down = False
        await until(lambda: len(store.rows) == 3)
    assert [hit.rule for hit in store.rows] == ["one", "two", "three"]
    assert audit.lost == 0


async def test_record_drops_the_oldest_rows_beyond_the_bound_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Memory is bounded: the newest rows stay, the others are counted, one line tells it."""
    store = MemoryAuditLog()
    store.down = True
    audit = Audit(store, limits=AuditLimits(rows=3, gather=3600))
    with caplog.at_level(logging.WARNING):
        for number in range(10):
            audit.record([a_hit(f"r{number}")])
    assert audit.lost == 7
    assert audit.unwritten == 3
    assert [record.message for record in caplog.records] == [
        "audit: the queue is full, the oldest rows are dropped and counted"
    ]
    store.down = False
    async with running(audit):
        await audit.flush()
    assert [hit.rule for hit in store.rows] == ["r7", "r8", "r9"]


async def test_an_outage_is_logged_once_and_its_end_too(caplog: pytest.LogCaptureFixture) -> None:
    """Retries are silent."""
    store = MemoryAuditLog()
    store.down = True
    audit = Audit(store, limits=QUICK)
    with caplog.at_level(logging.WARNING):
        async with running(audit):
            audit.record([a_hit()])
            await until(lambda: store.attempts > 3)
            store.down = False
            await until(lambda: bool(store.rows))
    assert [record.message.split(":")[1] for record in caplog.records] == [
        " the store is down, rows are kept in memory",
        " the store answers again; 0 rows were lost so far",
    ]


async def test_a_batch_that_the_store_cannot_take_is_given_up_and_the_next_is_written() -> None:
    """A fault of a backend costs its batch, never the writer."""
    store = MemoryAuditLog()
    store.refuses = OverflowError("too large")
    audit = Audit(store, limits=QUICK)
    async with running(audit):
        audit.record([a_hit("bad")])
        await until(lambda: audit.lost == 1)
        store.refuses = None
        audit.record([a_hit("good")])
        await until(lambda: len(store.rows) == 1)
    assert store.rows[0].rule == "good"


async def test_record_neither_waits_nor_raises_when_a_listener_is_broken() -> None:
    """A fault of the audit does not reach the turn, and the row is kept."""

    def broken(_hits: Sequence[HitRecord]) -> None:
        raise RuntimeError("broken")

    store = MemoryAuditLog()
    audit = Audit(store, listeners=[broken], limits=QUICK)
    async with running(audit):
        audit.record([a_hit()])
        await audit.flush()
    assert len(store.rows) == 1


def test_record_tells_listeners_at_once_and_works_without_a_loop() -> None:
    """The live view does not wait for the store."""
    seen: list[HitRecord] = []
    audit = Audit(MemoryAuditLog(), listeners=[seen.extend])
    audit.record([a_hit()])
    audit.record([], a_turn())
    assert [hit.rule for hit in seen] == ["no-any"]
    assert audit.unwritten == 2


def test_record_cleans_what_a_model_wrote() -> None:
    """Surrogates, line ends and credentials of a call's names and paths reach nobody."""
    seen: list[HitRecord] = []
    audit = Audit(MemoryAuditLog(), listeners=[seen.extend])
    audit.record([a_hit(target_path="a\ud800\nsk-abcdefghijkl", tool="t\x1b", model="x" * 999)])
    assert seen[0].target_path == "a\ufffd⏎[masked]"
    assert seen[0].tool == "t␛"
    assert len(seen[0].model) == 256


async def test_hits_shows_what_was_just_recorded_with_its_id() -> None:
    """A reader sees every row recorded before it asked."""
    audit = Audit(MemoryAuditLog(), limits=NEVER_ALONE)
    async with running(audit):
        audit.record([a_hit("one"), a_hit("two"), a_hit("three")])
        page = await audit.hits(HitQuery(limit=2))
        rest = await audit.hits(HitQuery(limit=2, cursor=page.next))
    assert [(hit.id, hit.rule) for hit in page.hits] == [(3, "three"), (2, "two")]
    assert page.next == 2
    assert [hit.rule for hit in rest.hits] == ["one"]
    assert rest.next is None


async def test_turns_shows_what_was_just_recorded() -> None:
    """Turns are read as hits are."""
    audit = Audit(MemoryAuditLog(), limits=NEVER_ALONE)
    async with running(audit):
        audit.record(turn=a_turn("t1"))
        audit.record(turn=a_turn("t2"))
        assert [turn.turn for turn in await audit.turns(10)] == ["t2", "t1"]


async def test_hits_of_a_hanging_store_end_in_an_error() -> None:
    """A reader waits for a bounded time only."""
    store = MemoryAuditLog()
    store.gate = anyio.Event()
    audit = Audit(store, limits=AuditLimits(patience=0.02))
    async with running(audit):
        with pytest.raises(StoreUnavailable, match=r"did not answer within 0\.02 s"):
            await audit.hits(HitQuery())


async def test_close_writes_what_is_queued() -> None:
    """A clean end loses nothing."""
    store = MemoryAuditLog()
    audit = Audit(store, limits=NEVER_ALONE)
    async with running(audit):
        audit.record([a_hit()])
    assert len(store.rows) == 1


async def test_close_does_not_wait_for_a_hanging_store(caplog: pytest.LogCaptureFixture) -> None:
    """The end is bounded, and what it cost is said."""
    store = MemoryAuditLog()
    audit = Audit(store, limits=AuditLimits(gather=0.01, patience=0.05))
    with anyio.fail_after(2), caplog.at_level(logging.WARNING):
        async with running(audit):
            store.gate = anyio.Event()
            audit.record([a_hit(), a_hit()])
            await until(lambda: store.attempts == 1)
    assert caplog.records[-1].message == "audit: 2 rows were not written before the end"


async def test_close_does_not_retry_a_store_that_is_down() -> None:
    """One last attempt is made."""
    store = MemoryAuditLog()
    store.down = True
    audit = Audit(store, limits=NEVER_ALONE)
    async with running(audit):
        audit.record([a_hit()])
    assert store.attempts == 1
    assert audit.unwritten == 1


async def test_flush_without_a_writer_says_that_rows_are_unwritten() -> None:
    """Nobody waits for a writer that was never started."""
    audit = Audit(MemoryAuditLog())
    assert await audit.flush()
    audit.record([a_hit()])
    assert not await audit.flush()
    await audit.close()
