from __future__ import annotations

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from proxy.config import ListenSettings
from proxy.gate import Gate, trust_of
from proxy.trust import Trust


def through(trust: Trust, **headers: str) -> TestClient:
    inner = PlainTextResponse("inside", headers=headers)
    return TestClient(Gate(inner, trust), base_url="http://localhost")


@pytest.mark.parametrize(
    ("listen", "needed"),
    [({}, False), ({"token": "t"}, True), ({"host": "0.0.0.0"}, True), ({"host": "::1"}, False)],
)
def test_trust_of_asks_for_a_token_where_others_can_reach(
    listen: dict[str, str], *, needed: bool
) -> None:
    """Beyond loopback always, on loopback if one is set."""
    assert trust_of(ListenSettings.model_validate(listen)).token_needed is needed


def test_the_listening_name_is_a_host_that_passes() -> None:
    """Whoever listens under a name wants to be called by it."""
    listen = ListenSettings.model_validate({"host": "gw.example.com"})
    trust_of(listen).check([(b"host", b"gw.example.com:8787")])


def test_a_request_without_an_origin_passes_unchanged() -> None:
    """Not a field is added."""
    answer = through(Trust()).get("/v1/models")
    assert answer.text == "inside"
    assert set(answer.headers) == {"content-length", "content-type"}


def test_a_refusal_is_an_error_answer() -> None:
    """In OpenAI's shape, with status 403."""
    answer = through(Trust()).get("/", headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "origin_refused"


def test_a_passing_origin_may_read_the_answer() -> None:
    """Unless the upstream has said itself who may."""
    origin = {"origin": "app://x"}
    assert (
        through(Trust()).get("/", headers=origin).headers["access-control-allow-origin"]
        == "app://x"
    )
    named = through(Trust(), **{"Access-Control-Allow-Origin": "*"}).get("/", headers=origin)
    assert named.headers.get_list("access-control-allow-origin") == ["*"]


def test_a_preflight_never_reaches_the_inside() -> None:
    """Other OPTIONS requests do."""
    client = through(Trust())
    asks = {"origin": "app://x", "access-control-request-method": "POST"}
    assert client.options("/", headers=asks).status_code == 204
    assert client.options("/", headers={"origin": "app://x"}).text == "inside"
    assert client.options("/").text == "inside"


def test_a_token_in_the_query_becomes_a_cookie() -> None:
    """With it the page's own requests are let in."""
    client = through(Trust(token="t", token_needed=True))
    assert client.get("/audit").status_code == 401
    first = client.get("/audit?token=t")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.get("/audit/hits").text == "inside"


@pytest.mark.parametrize("query", ["token=t", "a=1&token=t&b=%20", "%74oken=t", "token=x&token=t"])
def test_a_token_in_the_query_ends_at_the_gate(query: str) -> None:
    """What lies behind it cannot refuse, repeat or log the secret; other parameters stay."""
    seen: list[bytes] = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["query_string"])
        await PlainTextResponse("inside")(scope, receive, send)

    gate = Gate(inner, Trust(token="t", token_needed=True))
    client = TestClient(gate, base_url="http://localhost")
    assert client.get(f"/audit?{query}").status_code == 200
    assert seen == [b"a=1&b=%20" if "a=1" in query else b""]
