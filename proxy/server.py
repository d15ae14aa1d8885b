"""The HTTP server around the app: its socket, how it starts and how it stops."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from proxy.config import ListenSettings
from proxy.drain import Drain
from proxy.errors import ConfigError
from proxy.upgrades import DeafToH2c

# Agents keep connections for minutes; closing first would meet their next request.
_KEEP_ALIVE_SECONDS = 75
_BACKLOG = 2048
# What a client has to read what was written before its turn was cut.
_LAST_READ_SECONDS = 1.0


def bound_socket(listen: ListenSettings) -> socket.socket:
    """Bind the address of the settings; raises ConfigError naming it and the reason."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
        except OSError:
            sock.close()
            raise
    except OSError as problem:
        raise ConfigError(
            f"cannot listen on {listen.host} port {listen.port}: {problem.strerror}; "
            "choose another with --host and --port, or stop the program that uses it."
        ) from None
    return sock


class Server(uvicorn.Server):
    """uvicorn with our way of stopping. `started` is called once it accepts connections."""

    def __init__(
        self, app: ASGIApp, drain: Drain, announce: Callable[[], None] | None = None
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=DeafToH2c,
                ws="none",
                lifespan="off",
                access_log=False,
                log_config=None,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                backlog=_BACKLOG,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            )
        )
        self._app = app
        self._drain = drain
        self._announce = announce

    def loop_factory(self) -> Callable[[], asyncio.AbstractEventLoop] | None:
        """Answer the loop that suits this server best: uvloop's, where there is one."""
        return self.config.get_loop_factory()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM, and let the process end by itself behind that.

        uvicorn would raise the signal again, which kills the process before its logs are out.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Run the app's lifespan around the server: what it raises is raised here.

        uvicorn would log a traceback of it and end the process with a status of its own.
        """
        with _quiet_uvicorn(), self.capture_signals():
            async with self._lifespan():
                await super().serve(sockets)

    def _lifespan(self) -> AbstractAsyncContextManager[object]:
        if isinstance(self._app, Starlette):
            return self._app.router.lifespan_context(self._app)
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        if self._announce is not None and self.started:
            self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting; turns under way have the drain's time."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._let_go)
            await super().shutdown(sockets)
            group.cancel_scope.cancel()

    async def _let_go(self) -> None:
        """Drain, then cut the connections of clients that read nothing: uvicorn would wait."""
        await self._drain.run()
        await anyio.sleep(_LAST_READ_SECONDS)
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()


@asynccontextmanager
async def serving(app: ASGIApp, drain: Drain | None = None) -> AsyncIterator[str]:
    """Serve an app on a free port of the loopback address for a while; gives its origin."""
    started = anyio.Event()
    server = Server(app, drain or Drain(limit=10, grace=0), started.set)
    with bound_socket(ListenSettings(port=0)) as sock:
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [sock])
            await started.wait()
            try:
                yield f"http://127.0.0.1:{sock.getsockname()[1]}"
            finally:
                server.should_exit = True


@contextmanager
def _quiet_uvicorn() -> Iterator[None]:
    """Leave out what uvicorn says about things that we do on purpose, and its start and stop."""
    # Its access log shows queries, in which some APIs take keys; a handler alone would turn it on.
    access = logging.getLogger("uvicorn.access")
    log = logging.getLogger("uvicorn.error")
    before, on_purpose = (access.disabled, log.level), _OnPurpose()
    access.disabled = True
    log.setLevel(logging.WARNING)
    log.addFilter(on_purpose)
    try:
        yield
    finally:
        log.removeFilter(on_purpose)
        access.disabled, level = before
        log.setLevel(level)


class _OnPurpose(logging.Filter):
    """Cut answers and refused upgrades are no errors here; both are logged where they happen."""

    _PHRASES = (
        "returned without completing response",
        "returned without starting response",
        "Unsupported upgrade request",
        "No supported WebSocket library",
    )

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep everything else."""
        return not any(phrase in str(record.msg) for phrase in self._PHRASES)
