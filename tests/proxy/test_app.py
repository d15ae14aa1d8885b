from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient

from proxy.app import create_app
from proxy.config import Settings
from proxy.errors import ConfigError
from proxy.routing import Target

NOWHERE = {"upstream": {"url": "http://127.0.0.1:9/v1"}}


async def relay(_request: Request, target: Target) -> Response:
    return PlainTextResponse(f"relayed {target.workspace}")


def client(app: object) -> TestClient:
    return TestClient(app, base_url="http://localhost")  # type: ignore[arg-type]


def test_an_upstream_is_required() -> None:
    """Settings without one cannot become an app."""
    with pytest.raises(ConfigError, match="--upstream"):
        create_app(Settings())


def test_probes_answer() -> None:
    """Alive at once; ready when every part says so, else with the names of those that wait."""
    state = {"store": True, "rules": False}

    async def store() -> bool:
        return state["store"]

    async def rules() -> bool:
        return state["rules"]

    probed = client(
        create_app(Settings.model_validate(NOWHERE), ready={"store": store, "rules": rules})
    )
    assert probed.get("/healthz").json() == {"status": "ok"}
    waiting = probed.get("/readyz")
    assert (waiting.status_code, waiting.json()["waiting"]) == (503, ["rules"])
    state["rules"] = True
    assert probed.get("/readyz").status_code == 200


def test_the_relay_gets_chat_unless_the_proxy_is_switched_off() -> None:
    """`enabled: false` is pure pass-through: here, to an upstream that is not there."""
    on = create_app(Settings.model_validate(NOWHERE), relay=relay)
    assert client(on).post("/w/acme/v1/chat/completions").text == "relayed acme"
    off = create_app(Settings.model_validate({**NOWHERE, "enabled": False}), relay=relay)
    with client(off) as passing:
        assert passing.post("/v1/chat/completions").status_code == 502


def test_the_dashboard_is_behind_the_gate() -> None:
    """Its routes come before the catch-all, and the token guards them."""
    routes = APIRouter()

    @routes.get("/audit")
    async def audit() -> str:
        return "figures"

    settings = Settings.model_validate({**NOWHERE, "listen": {"token": "t"}})
    guarded = client(create_app(settings, dashboard=routes))
    assert guarded.get("/audit").status_code == 401
    assert guarded.get("/audit", headers={"authorization": "Bearer t"}).json() == "figures"


def test_resources_live_as_long_as_the_app() -> None:
    """Entered in order, left in reverse."""
    seen: list[str] = []

    @asynccontextmanager
    async def resource(name: str) -> AsyncIterator[None]:
        seen.append(f"enter {name}")
        yield
        seen.append(f"leave {name}")

    parts = [resource("store"), resource("rules")]
    with client(create_app(Settings.model_validate(NOWHERE), resources=parts)):
        assert seen == ["enter store", "enter rules"]
    assert seen[2:] == ["leave rules", "leave store"]


def test_what_is_not_answered_here_is_forwarded() -> None:
    """Below the paths of probes and dashboard too, and where a path only begins like theirs."""
    routes = APIRouter()

    @routes.get("/audit")
    async def audit() -> str:
        return "figures"

    with client(create_app(Settings.model_validate(NOWHERE), dashboard=routes)) as served:
        for path in ("/", "/audit/other", "/audits", "/v1/audit", "/healthz/x", "/v1/healthz"):
            assert served.get(path).status_code == 502, path
        assert served.get("/audit").json() == "figures"
