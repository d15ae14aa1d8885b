from __future__ import annotations

import logging

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from proxy.client import BrokenAnswer
from proxy.drain import Drain
from proxy.errors import BadRequest
from proxy.forwarding import Forwarding, Handler
from proxy.routing import Target


def answering(word: str) -> Handler:
    async def handler(request: Request, target: Target) -> Response:
        body = await request.body()
        return PlainTextResponse(f"{word} {target.name} {target.session} {body.decode()}")

    return handler


def client(relay: Handler | None = None, limit: int = 100, *, fail_open: bool = True) -> TestClient:
    app = Forwarding(answering("passed"), relay, Drain(10), limit, fail_open=fail_open)
    return TestClient(app, base_url="http://localhost")


def test_completions_go_to_the_relay() -> None:
    """By POST only, and only where there is one; everything else is passed through."""
    both = client(answering("relayed"))
    assert (
        both.post("/s/x/v1/chat/completions", content="b").text == "relayed /chat/completions x b"
    )
    assert both.post("/v1/completions").text.startswith("relayed /completions")
    assert both.post("/v1/fim/completions").text.startswith("passed")
    assert both.get("/v1/chat/completions").text.startswith("passed")
    assert both.post("/v1/embeddings").text.startswith("passed")
    assert client().post("/v1/chat/completions").text.startswith("passed")


def test_a_fault_becomes_an_answer() -> None:
    """Whichever handler raised it."""

    async def failing(_request: Request, _target: Target) -> Response:
        raise BadRequest("messages should be a list", "messages")

    answer = client(failing).post("/chat/completions")
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "messages"


async def defective(request: Request, _target: Target) -> Response:
    await request.body()
    raise AttributeError("secret words")


def test_a_defect_in_front_of_the_upstream_costs_the_rules_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The request is passed through with the body that was read already; the log says so."""
    answer = client(defective).post("/v1/chat/completions", content="body")
    assert (answer.status_code, answer.text) == (200, "passed /chat/completions None body")
    assert "AttributeError in defective, line " in caplog.text
    assert "secret words" not in caplog.text


def test_a_defect_is_an_answer_where_requests_must_not_go_out_without_rules() -> None:
    """With `failMode: closed`."""
    answer = client(defective, fail_open=False).post("/v1/chat/completions", content="body")
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "rules_unavailable"
    assert "secret words" not in answer.text


class Breaking(Response):
    """An answer that begins and then raises."""

    def __init__(self, problem: Exception) -> None:
        super().__init__()
        self.problem = problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive  # it has nothing to read
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise self.problem


async def run_breaking(problem: Exception) -> list[str]:
    sent: list[str] = []

    async def handler(_request: Request, _target: Target) -> Response:
        return Breaking(problem)

    async def receive() -> dict[str, object]:
        return {"type": "http.request"}

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        sent.append(message["type"])

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/x",
        "raw_path": b"/x",
        "query_string": b"",
        "headers": [],
    }
    await Forwarding(handler, None, Drain(1), 1)(scope, receive, send)
    return sent


@pytest.mark.anyio
@pytest.mark.parametrize("problem", [BrokenAnswer(), BadRequest("too late")])
async def test_an_answer_that_breaks_is_left_unfinished(
    problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """The server then cuts the connection; nothing is raised into it."""
    caplog.set_level(logging.DEBUG, "proxy.forwarding")
    assert await run_breaking(problem) == ["http.response.start"]
    assert "the answer was cut" in caplog.text


def test_bodies_beyond_the_limit_are_refused() -> None:
    """By their announcement, or once the handler has read too much."""
    assert client(limit=3).post("/files", content="abcd").status_code == 413
    grown = client(limit=3).post("/files", content=iter([b"ab", b"cd"]))
    assert grown.status_code == 413
    assert client(limit=4).post("/files", content="abcd").status_code == 200


def test_a_length_that_is_no_number_is_refused() -> None:
    """Before anything is read."""
    assert client().post("/files", headers={"content-length": "x"}).status_code == 400


def test_a_websocket_is_refused_on_any_path() -> None:
    """And its connection closed, since it spoke of another protocol."""
    answer = client().get("/v1/responses", headers={"upgrade": "WebSocket"})
    assert answer.status_code == 426
    assert answer.headers["connection"] == "close"
