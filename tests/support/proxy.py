"""The real server on a free port, in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from fastapi import FastAPI

from proxy.app import create_app
from proxy.config import Settings
from proxy.drain import Drain
from proxy.server import Server, bound_socket
from tests.support.upstream import ScriptedUpstream

AppFactory = Callable[[Settings, Drain], FastAPI]


def plain_app(settings: Settings, drain: Drain) -> FastAPI:
    """Build the app without rules."""
    return create_app(settings, drain=drain)


@dataclass(frozen=True, slots=True)
class RunningProxy:
    """A proxy that listens on loopback."""

    port: int
    server: Server
    app: FastAPI
    loop: asyncio.AbstractEventLoop

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL as an agent would be given it."""
        return f"{self.origin}/v1"

    def stop(self) -> None:
        """Begin to stop, as a signal would."""
        self.server.should_exit = True

    async def tasks(self) -> set[str]:
        """Name what runs in the proxy's loop, for tests that look for leaks."""
        return await anyio.to_thread.run_sync(self._tasks)

    def _tasks(self) -> set[str]:
        async def names() -> set[str]:
            return {repr(task.get_coro()) for task in asyncio.all_tasks()}

        return asyncio.run_coroutine_threadsafe(names(), self.loop).result(5)


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait, at most five seconds, for what no event of ours announces."""
    async with asyncio.timeout(5):
        while not await _holds(condition()):  # noqa: ASYNC110 - another thread's or kernel's state
            await asyncio.sleep(0.005)


async def _holds(state: bool | Awaitable[bool]) -> bool:  # noqa: FBT001 - a state to wait for
    return state if isinstance(state, bool) else await state


def settings_for(upstream: ScriptedUpstream, /, **more: Any) -> Settings:
    """Make settings for a proxy in front of `upstream`; sections are merged key by key."""
    given: dict[str, Any] = {"upstream": {"url": upstream.url}, "listen": {"port": 0}}
    for key, value in more.items():
        below = given.get(key)
        if isinstance(below, dict) and isinstance(value, Mapping):
            given[key] = below | dict(value)
        else:
            given[key] = value
    return Settings.model_validate(given)


@contextlib.asynccontextmanager
async def running_proxy(
    settings: Settings, build: AppFactory = plain_app, *, grace: float = 0.5
) -> AsyncIterator[RunningProxy]:
    """Run the server; `grace`: seconds that turns have when it stops."""
    sock = bound_socket(settings.listen)
    started = threading.Event()
    made: list[RunningProxy] = []

    async def serve() -> None:
        drain = Drain(settings.limits.turns, grace)
        app = build(settings, drain)
        server = Server(app, drain, started.set)
        port = sock.getsockname()[1]
        made.append(RunningProxy(port, server, app, asyncio.get_running_loop()))
        await server.serve([sock])

    def run() -> None:
        import uvloop  # noqa: PLC0415 - the loop that the command uses, where it exists

        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(serve())
        finally:
            started.set()

    thread = threading.Thread(target=run, name="proxy")
    thread.start()
    try:
        await anyio.to_thread.run_sync(started.wait)
        assert made, "the proxy did not start"
        yield made[0]
    finally:
        if made:
            made[0].stop()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(thread.join)
        sock.close()
