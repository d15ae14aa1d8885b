"""The audit's routes served over a real loopback socket, in the test's own event loop."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import uvicorn
from fastapi import FastAPI

from proxy.audit import Audit, AuditLimits
from proxy.dashboard.feed import Feed
from proxy.dashboard.routes import Facts, router
from rules_engine.ruleset import RuleSet
from tests.support.memory_store import MemoryAuditLog


@dataclass(frozen=True, slots=True)
class Served:
    """What runs: its store, audit and feed, the server, and where it listens."""

    store: MemoryAuditLog
    audit: Audit
    feed: Feed
    server: uvicorn.Server
    port: int

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"


def audit_app(audit: Audit, feed: Feed, rules: RuleSet | None = None) -> FastAPI:
    """Build an app of nothing but the audit, with the writer in its lifespan."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(audit.run)
            yield
            await audit.close()

    app = FastAPI(lifespan=lifespan)

    async def in_force() -> RuleSet | None:
        return rules

    facts = Facts("1.2.3", "https://user:secret@api.example.com/v1?key=k", in_force)
    app.include_router(router(audit, feed, facts))
    return app


@asynccontextmanager
async def served(
    rules: RuleSet | None = None, *, backlog: int = 256, port: int = 0
) -> AsyncIterator[Served]:
    """Serve until the context ends; the way out is the one that a server takes on a signal."""
    store = MemoryAuditLog()
    feed = Feed(backlog)
    audit = Audit(store, listeners=[feed.publish], limits=AuditLimits(gather=0.01))
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    config = uvicorn.Config(
        audit_app(audit, feed, rules), log_config=None, timeout_graceful_shutdown=10
    )
    server = uvicorn.Server(config)
    with listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            with anyio.fail_after(10):
                while not server.started:  # noqa: ASYNC110 - uvicorn announces it by a flag alone
                    await anyio.sleep(0.005)
            try:
                yield Served(store, audit, feed, server, listening.getsockname()[1])
            finally:
                feed.end()
                server.should_exit = True
