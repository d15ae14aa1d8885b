"""The live fan-out: bounded for each reader, complete for those who keep up."""

from __future__ import annotations

import json

import anyio
import pytest

from proxy.dashboard.feed import DROPPED, TRIGGERED, Feed, LiveEvent
from tests.support.audit_rows import a_hit

pytestmark = pytest.mark.anyio


async def test_publish_groups_the_hits_of_one_decision() -> None:
    """One event names all rules of an interrupt; another action is another event."""
    feed = Feed()
    with feed.reader() as reader:
        feed.publish([a_hit("a"), a_hit("b"), a_hit("a"), a_hit("c", "observed")])
        first, second = await anext(reader), await anext(reader)
    told = json.loads(first.data)
    assert first.name == TRIGGERED
    assert (told["rules"], told["action"], told["conversation"]) == (["a", "b"], "interrupt", "c1")
    assert len(told["hits"]) == 3
    assert told["hits"][0]["excerpt"] == "const x: any"
    assert "id" not in told["hits"][0]
    assert json.loads(second.data)["rules"] == ["c"]


async def test_publish_reaches_every_reader_in_order() -> None:
    """Readers are independent."""
    feed = Feed()
    with feed.reader() as one, feed.reader() as two:
        for number in range(5):
            feed.publish([a_hit(str(number))])
        for reader in (one, two):
            seen = [json.loads((await anext(reader)).data)["rules"] for _ in range(5)]
            assert seen == [["0"], ["1"], ["2"], ["3"], ["4"]]


async def test_a_slow_reader_loses_its_oldest_events_and_is_told_how_many() -> None:
    """The backlog is bounded; the loss is the slow reader's alone."""
    feed = Feed(backlog=2)
    with feed.reader() as slow, feed.reader() as quick:
        for number in range(5):
            feed.publish([a_hit(str(number))])
            await anext(quick)
        assert await anext(slow) == LiveEvent(DROPPED, '{"count":3}')
        assert [json.loads((await anext(slow)).data)["rules"] for _ in range(2)] == [["3"], ["4"]]
    assert feed.dropped == 3


async def test_a_waiting_reader_is_woken() -> None:
    """An event is handed over as soon as it is published."""
    feed = Feed()
    seen: list[LiveEvent] = []

    async def read() -> None:
        with feed.reader() as reader:
            async for event in reader:
                seen.append(event)  # noqa: PERF401 - what was seen must stay if the loop is cut

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            feed.publish([a_hit()])
            await anyio.wait_all_tasks_blocked()
            assert len(seen) == 1
            feed.end()
    assert feed.readers == 0


async def test_end_lets_a_reader_finish_its_queue() -> None:
    """What was published before the end is still read; what comes after is not."""
    feed = Feed()
    with feed.reader() as reader:
        feed.publish([a_hit("before")])
        feed.end()
        feed.publish([a_hit("after")])
        assert [json.loads(event.data)["rules"] async for event in reader] == [["before"]]
    with feed.reader() as late:
        assert [event async for event in late] == []


def test_publish_without_readers_keeps_nothing() -> None:
    """Nobody listens, nothing is built or counted."""
    feed = Feed()
    feed.publish([a_hit()])
    assert (feed.readers, feed.dropped, feed.ended) == (0, 0, False)
