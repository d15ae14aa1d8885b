from __future__ import annotations

import asyncio
import json
import logging
import socket

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from proxy.config import ListenSettings
from proxy.errors import ConfigError
from proxy.server import bound_socket, serving
from tests.support.proxy import running_proxy, settings_for
from tests.support.upstream import Reply, ScriptedUpstream


def test_a_free_port_is_bound() -> None:
    """Zero picks one, on IPv4 and IPv6 alike."""
    for host in ("127.0.0.1", "localhost"):
        with bound_socket(ListenSettings(host=host, port=0)) as sock:
            assert sock.getsockname()[1] > 0


def test_a_port_in_use_is_one_sentence() -> None:
    """It names the address, the reason, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1 port {port}: Address already in use"):
            bound_socket(ListenSettings(port=port))


def test_a_host_that_is_not_ours_is_one_sentence() -> None:
    """An address of another machine cannot be listened on."""
    with pytest.raises(ConfigError, match="--host"):
        bound_socket(ListenSettings(host="192.0.2.1", port=0))


@pytest.mark.anyio
async def test_uvicorn_is_quiet_about_what_is_done_on_purpose(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """While it serves, cut answers and upgrades are no errors; the rest is kept."""
    errors = logging.getLogger("uvicorn.error")
    async with serving(Starlette()), serving(Starlette()):
        errors.error("ASGI callable returned without completing response.")
        errors.warning("Unsupported upgrade request.")
        errors.error("Exception in ASGI application")
    assert [record.getMessage() for record in caplog.records] == ["Exception in ASGI application"]


@pytest.mark.anyio
async def test_requests_are_in_no_log_of_uvicorns(caplog: pytest.LogCaptureFixture) -> None:
    """Their queries may hold keys; not even a handler of somebody's brings the access log back."""
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("here"))])
    access = logging.getLogger("uvicorn.access")
    with caplog.at_level(logging.DEBUG):
        async with httpx.AsyncClient() as http, serving(app) as origin:
            access.addHandler(caplog.handler)
            await http.get(f"{origin}/?key=secret")
            access.removeHandler(caplog.handler)
    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


@pytest.mark.anyio
async def test_app_is_served_for_a_while() -> None:
    """On a free port of this machine, from the first statement on; behind the last it is gone."""
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("here"))])
    async with httpx.AsyncClient() as http:
        async with serving(app) as origin:
            assert (await http.get(origin)).text == "here"
        with pytest.raises(httpx.ConnectError):
            await http.get(origin)


@pytest.mark.anyio
async def test_client_that_reads_nothing_does_not_keep_the_proxy_from_stopping(
    upstream: ScriptedUpstream,
) -> None:
    """Its turn is cut at the end of the grace, and so is its connection."""
    upstream.script(Reply(b": more\n\n" * 4_000_000))
    body = json.dumps({"messages": [{"role": "user", "content": "hi"}], "stream": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}"
    async with asyncio.timeout(20):
        async with running_proxy(settings_for(upstream), grace=0.1) as proxy:
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port, limit=1024)
            writer.write(head.encode() + b"\r\n\r\n" + body)
            await reader.readuntil(b"\r\n\r\n")
        writer.close()
