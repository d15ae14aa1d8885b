"""Composition root: settings to a running ASGI app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from proxy.config import Settings
from proxy.drain import Drain
from proxy.forwarding import Forwarding, Handler
from proxy.gate import Gate, trust_of
from proxy.passthrough import Passthrough
from proxy.upstream import Upstream

_HEALTH = "/healthz"
_READY = "/readyz"

# Answers whether one part could serve now.
ReadyCheck = Callable[[], Awaitable[bool]]


class App(FastAPI):
    """Routes what is answered here; what is forwarded goes past the router and its middleware.

    Each of those is a frame through which every piece of a stream would be woken and sent.
    Both stand behind one gate.
    """

    gate: ASGIApp | None = None
    forwarding: ASGIApp | None = None
    answered: frozenset[str] = frozenset()  # first segments of the paths that are answered here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or run the lifespan."""
        way = self.gate if scope["type"] == "http" else None
        await (way or super().__call__)(scope, receive, send)

    def let_in(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer a request that the gate has let in."""
        way = None if _first_segment(scope["path"]) in self.answered else self.forwarding
        return (way or super().__call__)(scope, receive, send)


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""


def create_app(
    settings: Settings,
    *,
    upstream: Upstream | None = None,
    drain: Drain | None = None,
    relay: Handler | None = None,
    dashboard: APIRouter | None = None,
    ready: Mapping[str, ReadyCheck] | None = None,
    resources: Sequence[AbstractAsyncContextManager[object]] = (),
) -> FastAPI:
    """Build the app.

    `relay` answers chat completions, else they pass through like the rest. `dashboard` brings
    the `/audit` routes. `ready`: parts by name for `/readyz`. `resources` are entered in order
    when the app starts and left in reverse when it ends; the upstream is closed last.
    Raises ConfigError where the settings name no upstream.
    """
    upstream = upstream or Upstream(settings)
    drain = drain or Drain(settings.limits.turns)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(upstream.aclose)
            for resource in resources:
                await stack.enter_async_context(resource)
            yield

    app = _bare(lifespan)
    app.state.drain = drain
    _add_probes(app, ready or {})
    answered = [_HEALTH, _READY]
    if dashboard is not None:
        app.include_router(dashboard)
        answered += [route.path for route in dashboard.routes if isinstance(route, Route)]
    forwarding = Forwarding(
        Passthrough(upstream),
        relay if settings.enabled else None,
        drain,
        settings.limits.body,
        fail_open=settings.fail_mode == "open",
    )
    app.router.routes.append(Route("/{path:path}", forwarding, include_in_schema=False))
    app.gate = Gate(app.let_in, trust_of(settings.listen))
    app.forwarding = forwarding
    app.answered = frozenset(map(_first_segment, answered))
    return app


def _bare(lifespan: Lifespan[FastAPI]) -> App:
    return App(
        title="ttsr-proxy",
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        # What passes here is nobody's but the user's; nothing is exported anywhere.
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
    )


def _add_probes(app: FastAPI, checks: Mapping[str, ReadyCheck]) -> None:
    @app.get(_HEALTH)
    async def healthz() -> dict[str, str]:
        """Answer that the process lives."""
        return {"status": "ok"}

    @app.get(_READY)
    async def readyz() -> JSONResponse:
        """Answer 503 with what is not ready yet."""
        waiting = [name for name, check in checks.items() if not await check()]
        if waiting:
            return JSONResponse({"status": "waiting", "waiting": waiting}, 503)
        return JSONResponse({"status": "ready"})
