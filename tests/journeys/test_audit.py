"""The audit as people use it: over sockets, with readers that are slow, stuck or leave."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import pytest
from rich.console import Console

from proxy.audit import Audit, AuditLimits
from proxy.store import HitQuery, RuleCount
from proxy.store.sqlite import SqliteStore
from proxy.tail import TailSettings, tail
from tests.support.audit_rows import a_hit, a_turn
from tests.support.audit_server import served
from tests.support.rule_sets import a_rule_set

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]


async def test_a_hit_is_in_the_stream_the_list_the_counts_and_the_store() -> None:
    """One record shows everywhere, in the list with the id that the store gave it."""
    with anyio.fail_after(10):
        async with (
            served(a_rule_set()) as proxy,
            httpx.AsyncClient(base_url=proxy.url) as http,
            http.stream("GET", "/audit/stream") as answer,
        ):
            reads = answer.aiter_raw()
            await anext(reads)
            proxy.audit.record([a_hit()], a_turn())
            event = (await anext(reads)).decode()
            hits = (await http.get("/audit/hits")).json()["hits"]
            shown = (await http.get("/audit")).json()
            assert json.loads(event.partition("data: ")[2])["rules"] == ["no-any"]
            assert [(hit["id"], hit["rule"], hit["action"]) for hit in hits] == [
                (1, "no-any", "interrupt")
            ]
            assert shown["statistics"]["by_rule"]["no-any"]["interrupt"] == 1
            assert shown["recording"]["readers"] == 1
            assert len(proxy.store.rows) == 1


async def test_the_audit_of_one_run_is_there_in_the_next(tmp_path: Path) -> None:
    """Rows and counts outlive the process, whatever a model wrote into them."""
    for run in (1, 2):
        store = await SqliteStore.open(tmp_path / "ttsr.db")
        audit = Audit(store, limits=AuditLimits(gather=3600))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(audit.run)
            await anyio.wait_all_tasks_blocked()
            audit.record([a_hit(excerpt="a\ud800b", tool="edit\x00")], a_turn(f"t{run}"))
            page = await audit.hits(HitQuery(limit=1))
            turns = await audit.turns(10)
            tally = await audit.counts()
            await audit.close()
        await store.close()
    assert [(hit.id, hit.excerpt, hit.tool) for hit in page.hits] == [(2, "a\ufffdb", "edit␀")]
    assert page.next == 2
    assert [turn.turn for turn in turns] == ["t2", "t1"]
    assert tally.counts == (RuleCount("no-any", "interrupt", 2),)


async def test_a_stuck_reader_delays_neither_a_turn_nor_another_reader() -> None:
    """A reader that reads nothing loses events; recording stays quick and the others see all."""
    with anyio.fail_after(30):
        async with served(backlog=50) as proxy:
            with socket.socket() as stuck:
                stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                stuck.connect(("127.0.0.1", proxy.port))
                stuck.sendall(b"GET /audit/stream HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
                async with (
                    httpx.AsyncClient(base_url=proxy.url) as http,
                    http.stream("GET", "/audit/stream") as answer,
                ):
                    reads = answer.aiter_raw()
                    await anext(reads)
                    while proxy.feed.readers < 2:  # noqa: ASYNC110 - the server tells nobody
                        await anyio.sleep(0.005)
                    received = b""
                    slowest = 0.0
                    for number in range(600):
                        start = time.perf_counter()
                        proxy.audit.record([a_hit(f"r{number}", outcome="x" * 16_000)])
                        slowest = max(slowest, time.perf_counter() - start)
                        while f'"rules":["r{number}"]'.encode() not in received:
                            received = received[-64:] + await anext(reads)
                assert proxy.feed.dropped > 0
                assert slowest < 1


async def test_a_server_that_stops_ends_its_streams_at_once() -> None:
    """Neither an idle reader nor the library's polling holds the way out up."""
    with anyio.fail_after(10):
        async with (
            served() as proxy,
            httpx.AsyncClient(base_url=proxy.url) as http,
            http.stream("GET", "/audit/stream") as answer,
        ):
            reads = answer.aiter_raw()
            await anext(reads)
            start = time.perf_counter()
            proxy.feed.end()
            proxy.server.should_exit = True
            assert [read async for read in reads] == []
            assert time.perf_counter() - start < 3


SERVER = """
import sys, uvicorn
from tests.support.audit_server import audit_app
from tests.support.memory_store import MemoryAuditLog
from proxy.audit import Audit
from proxy.dashboard.feed import Feed
app = audit_app(Audit(MemoryAuditLog()), Feed())
uvicorn.run(app, fd=int(sys.argv[1]), log_level="error", timeout_graceful_shutdown=20)
"""


def test_a_signal_ends_streams_even_if_nobody_ends_the_feed() -> None:
    """A server that is not ours leaves soon after a signal, its reader's stream ended whole."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        os.set_inheritable(listening.fileno(), True)  # noqa: FBT003 - the standard library's order
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(listening.fileno())],
            cwd=ROOT,
            pass_fds=[listening.fileno()],
        )
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/audit/stream"
    try:
        with httpx.stream("GET", url, timeout=20, trust_env=False) as answer:
            reads = answer.iter_raw()
            assert next(reads) == b": keep-alive\n\n"
            server.send_signal(signal.SIGTERM)
            assert list(reads) == []
        assert server.wait(10) in (0, -signal.SIGTERM)
    finally:
        server.kill()
        server.wait()


async def test_tail_follows_a_proxy_across_its_restart() -> None:
    """What happens before and after a restart is shown, and the gap is said."""
    out, messages = io.StringIO(), io.StringIO()
    paused, restarted = threading.Event(), threading.Event()

    class Stop(Exception):  # noqa: N818 - ends the endless loop
        """Raised at the second end."""

    def sleep(_seconds: float) -> None:
        if paused.is_set():
            raise Stop
        paused.set()
        restarted.wait(10)

    def follow(url: str) -> None:
        consoles = (Console(file=stream, width=200) for stream in (out, messages))
        with pytest.raises(Stop):
            tail(TailSettings(url), *consoles, sleep=sleep)

    async def one_run(rule: str, port: int = 0) -> int:
        async with served(port=port) as proxy:
            if not port:
                tasks.start_soon(anyio.to_thread.run_sync, follow, proxy.url)
            else:
                restarted.set()
            while not proxy.feed.readers:  # noqa: ASYNC110 - the server tells nobody
                await anyio.sleep(0.005)
            proxy.audit.record([a_hit(rule)])
            return proxy.port

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            port = await one_run("before")
            await anyio.to_thread.run_sync(paused.wait, 10)
            await one_run("after", port)
    assert [line.split()[2] for line in out.getvalue().splitlines()] == ["before", "after"]
    assert "connected again" in messages.getvalue()
