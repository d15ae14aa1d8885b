"""The live stream over a real socket: what is on the wire, and how a stream ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest

from tests.support.audit_rows import a_hit
from tests.support.audit_server import Served, served

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def reading(proxy: Served) -> AsyncIterator[httpx.Response]:
    async with (
        httpx.AsyncClient(base_url=proxy.url) as http,
        http.stream("GET", "/audit/stream") as answer,
    ):
        yield answer


async def test_stream_is_plain_events_with_lf_and_begins_with_a_comment() -> None:
    """The bytes: a comment first, then one event for one decision, LF everywhere."""
    with anyio.fail_after(10):
        async with served() as proxy, reading(proxy) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            reads = answer.aiter_raw()
            assert await anext(reads) == b": keep-alive\n\n"
            proxy.audit.record([a_hit()])
            event = await anext(reads)
    assert event.startswith(b'event: ttsr_triggered\ndata: {"rules":["no-any"],')
    assert event.endswith(b"}\n\n")
    assert b"\r" not in event


async def test_stream_forgets_a_client_that_left() -> None:
    """A disconnect leaves neither a reader nor a task behind."""
    with anyio.fail_after(10):
        async with served() as proxy:
            before = len(asyncio.all_tasks())
            async with reading(proxy) as answer:
                await anext(answer.aiter_raw())
                assert proxy.feed.readers == 1
            while proxy.feed.readers or len(asyncio.all_tasks()) > before:  # noqa: ASYNC110 - the server tells nobody
                await anyio.sleep(0.005)


async def test_stream_ends_whole_when_the_feed_ends() -> None:
    """A reader gets what was published before, then an orderly end."""
    with anyio.fail_after(10):
        async with served() as proxy, reading(proxy) as answer:
            reads = answer.aiter_raw()
            await anext(reads)
            proxy.audit.record([a_hit("last")])
            proxy.feed.end()
            rest = b"".join([read async for read in reads])
    assert rest.count(b"event: ttsr_triggered") == 1


async def test_stream_leaves_no_watcher_on_the_loop() -> None:
    """The library's polling task is never started."""
    with anyio.fail_after(10):
        async with served() as proxy, reading(proxy) as answer:
            await anext(answer.aiter_raw())
            running = [str(task.get_coro()) for task in asyncio.all_tasks()]
    assert any("run_asgi" in task for task in running)
    assert not any("_shutdown_watcher" in task for task in running)
