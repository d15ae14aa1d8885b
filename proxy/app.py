"""Composition root: settings to a running ASGI app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse
from starlette.routing import Route

from proxy.config import Settings
from proxy.drain import Drain
from proxy.forwarding import Forwarding, Handler
from proxy.gate import Gate, trust_of
from proxy.passthrough import Passthrough
from proxy.upstream import Upstream

# Answers whether one part could serve now.
ReadyCheck = Callable[[], Awaitable[bool]]


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

    app = FastAPI(
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
    app.state.drain = drain
    _add_probes(app, ready or {})
    if dashboard is not None:
        app.include_router(dashboard)
    forwarding = Forwarding(
        Passthrough(upstream),
        relay if settings.enabled else None,
        drain,
        settings.limits.body,
        fail_open=settings.fail_mode == "open",
    )
    app.router.routes.append(Route("/{path:path}", forwarding, include_in_schema=False))
    app.add_middleware(Gate, trust=trust_of(settings.listen))
    return app


def _add_probes(app: FastAPI, checks: Mapping[str, ReadyCheck]) -> None:
    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Answer that the process lives."""
        return {"status": "ok"}

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        """Answer 503 with what is not ready yet."""
        waiting = [name for name, check in checks.items() if not await check()]
        if waiting:
            return JSONResponse({"status": "waiting", "waiting": waiting}, 503)
        return JSONResponse({"status": "ready"})
