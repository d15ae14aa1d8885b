"""A proxy without rules is invisible: through the real server, over real sockets."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest

from tests.support.chat import chat_reply, completion
from tests.support.corpus import cases, scripted
from tests.support.proxy import RunningProxy, running_proxy, settings_for, until
from tests.support.upstream import Reply, ScriptedUpstream, document
from tests.support.wire import Caller, call, calling

pytestmark = pytest.mark.anyio

CHAT = "/v1/chat/completions"
CASES = cases()
LONGEST_WAIT = 0.02


@pytest.fixture
async def proxy(upstream: ScriptedUpstream) -> AsyncIterator[RunningProxy]:
    async with running_proxy(settings_for(upstream)) as running:
        yield running


async def fewer_tasks(proxy: RunningProxy, count: int) -> bool:
    return len(await proxy.tasks()) <= count


async def test_every_hostile_answer_arrives_as_it_was_sent(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """The client gets the same status, the same bytes and the same kind of ending."""
    different = []
    for played in CASES:
        # Only the order of its waits matters here.
        reply = scripted(played, LONGEST_WAIT)
        upstream.script(reply)
        answer = await call(proxy.port, "POST", CHAT, body=b'{"model": "m", "stream": true}')
        broken = reply.terminate in {"abort", "reset"} and reply.framing != "close"
        expected = (played.response["status"], played.body, "broken" if broken else "clean")
        if reply.terminate == "reset":
            # A reset may overtake bytes before it, on either socket.
            same = answer.ending == "broken" and played.body.startswith(answer.plain)
        else:
            same = (answer.status, answer.plain, answer.ending) == expected
        if not same:
            different.append((played.name, answer))
    assert not different
    assert len(CASES) > 90


@pytest.mark.parametrize(
    ("target", "reached"),
    [
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/chat/completions", "/v1/chat/completions"),
        ("//v1//chat/completions/", "/v1/chat/completions/"),
        ("/w/%2Fhome%2Fme/s/a%20b/v1/models", "/v1/models"),
        ("/s/one/responses/resp_1/cancel", "/v1/responses/resp_1/cancel"),
        ("/v1/files/a%2Fb?x=%7e&y=[1]&z=a+b", "/v1/files/a%2Fb?x=%7e&y=[1]&z=a+b"),
        ("/", "/v1/"),
        ("/docs", "/v1/docs"),
        ("/openapi.json", "/v1/openapi.json"),
    ],
)
async def test_any_path_reaches_the_upstream(
    upstream: ScriptedUpstream, proxy: RunningProxy, target: str, reached: str
) -> None:
    """Prefixes and the version are cut, the rest is appended byte for byte."""
    upstream.script(document({}))
    assert (await call(proxy.port, "GET", target)).status == 200
    assert upstream.requests[0].target == reached


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
async def test_any_method_reaches_the_upstream(
    upstream: ScriptedUpstream, proxy: RunningProxy, method: str
) -> None:
    """With its body, if it has one."""
    upstream.script(document({"a": 1}))
    answer = await call(proxy.port, method, "/v1/files", body=b"any \x00 bytes")
    assert (answer.status, answer.body) == (200, b'{"a": 1}')
    assert (upstream.requests[0].method, upstream.requests[0].body) == (method, b"any \x00 bytes")


@pytest.mark.parametrize("status", [201, 301, 307, 400, 401, 404, 413, 422, 429, 500, 503, 599])
async def test_any_status_is_passed_on(
    upstream: ScriptedUpstream, proxy: RunningProxy, status: int
) -> None:
    """Errors and redirects with their fields and bodies; nothing is followed or retried."""
    fields = (
        ("location", "https://elsewhere.example/x"),
        ("retry-after", "7"),
        ("set-cookie", "a=1"),
    )
    body = b"<html>any kind of page</html>"
    upstream.script(Reply(body, status, (*fields, ("set-cookie", "b=2")), framing="content-length"))
    answer = await call(proxy.port, "POST", CHAT, body=b"{}")
    assert (answer.status, answer.body) == (status, body)
    assert answer.header("location") == "https://elsewhere.example/x"
    assert answer.header("retry-after") == "7"
    assert answer.all("set-cookie") == ["a=1", "b=2"]
    assert len(upstream.requests) == 1


async def test_no_field_is_added_or_doubled(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """The upstream's Date and Server stay the only ones."""
    fields = (
        ("date", "Mon, 01 Jan 2024 00:00:00 GMT"),
        ("server", "theirs"),
        ("x-request-id", "r"),
    )
    upstream.script(Reply(b"{}", headers=fields, framing="content-length"))
    answer = await call(proxy.port, "GET", "/v1/models")
    assert sorted(answer.headers) == sorted([*fields, ("content-length", "2")])


@pytest.mark.parametrize("status", [204, 304])
async def test_answers_without_a_body_end_at_once(
    upstream: ScriptedUpstream, proxy: RunningProxy, status: int
) -> None:
    """Also where a length stands for the body that is not sent; the connection goes on."""
    upstream.script(Reply(status=status, headers=(("etag", "e"), ("content-length", "9"))))
    upstream.script(document({}))
    async with calling(proxy.port) as caller:
        await caller.send("GET", "/v1/files")
        first = await caller.answer()
        await caller.send("GET", "/v1/files")
        second = await caller.answer()
    assert (first.status, first.body, first.ending) == (status, b"", "clean")
    assert first.header("etag") == "e"
    assert second.status == 200


async def test_head_keeps_the_length_without_the_body(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """The answer to HEAD describes the answer to GET."""
    upstream.script(Reply(b"12345", framing="content-length"))
    answer = await call(proxy.port, "HEAD", "/v1/files")
    assert (answer.status, answer.header("content-length"), answer.body) == (200, "5", b"")


async def test_a_large_body_streams_both_ways(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """Eight megabytes up and down, not one byte changed."""
    body = bytes(range(256)) * 32768
    upstream.answer = lambda request: Reply(request.body, headers=())
    answer = await call(proxy.port, "POST", "/v1/files", body=body)
    assert answer.body == body


async def test_a_chunked_upload_with_expectation_is_passed_on(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """The server says 100 Continue; the upstream gets the pieces chunked."""
    upstream.script(document({}))
    async with calling(proxy.port) as caller:
        await caller.send(
            "POST", "/v1/files", [("Transfer-Encoding", "chunked"), ("Expect", "100-continue")]
        )
        await caller.write(b"3\r\none\r\n4\r\n two\r\n0\r\n\r\n")
        assert (await caller.answer()).status == 200
    assert upstream.requests[0].body == b"one two"
    assert upstream.requests[0].header("expect") is None


async def test_bodies_beyond_the_limit_are_refused(upstream: ScriptedUpstream) -> None:
    """By their announced length at once, else when they have grown too long."""
    async with running_proxy(settings_for(upstream, limits={"body": 1000})) as proxy:
        announced = await call(proxy.port, "POST", "/v1/files", body=b"x" * 1001)
        async with calling(proxy.port) as caller:
            await caller.send("POST", "/v1/files", [("Transfer-Encoding", "chunked")])
            await caller.write(b"3e9\r\n" + b"x" * 1001 + b"\r\n0\r\n\r\n")
            grown = await caller.answer()
    for answer in (announced, grown):
        assert answer.status == 413
        assert "limits.body" in json.loads(answer.body)["error"]["message"]
    assert not upstream.exchanges


@pytest.mark.parametrize("reply", [chat_reply("a"), completion("a")], ids=["stream", "document"])
async def test_a_client_that_leaves_before_the_answer_ends_it(
    upstream: ScriptedUpstream, proxy: RunningProxy, reply: Reply
) -> None:
    """The upstream's connection closes while it still thinks, streaming or not."""
    upstream.script(Reply(reply.body, gates={-1: asyncio.Event()}))
    async with calling(proxy.port) as caller:
        await caller.send("POST", CHAT, body=b"{}")
        exchange = await upstream.exchange()
    await exchange.closed.wait()
    assert exchange.sent == 0


async def test_a_client_that_leaves_in_mid_stream_ends_it(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """The upstream sees the close before it has sent the rest."""
    reply = chat_reply("one", "two")
    cut = reply.splits[1]
    assert isinstance(cut, int)
    upstream.script(Reply(reply.body, gates={cut: asyncio.Event()}))
    async with calling(proxy.port) as caller:
        await caller.send("POST", CHAT, body=b"{}")
        await caller.head()
        assert await anext(caller.body())
    exchange = await upstream.exchange()
    await exchange.closed.wait()
    assert exchange.sent == cut
    await upstream.unconnected.wait()


async def test_a_client_that_leaves_in_its_upload_ends_it(
    upstream: ScriptedUpstream, proxy: RunningProxy, caplog: pytest.LogCaptureFixture
) -> None:
    """Half a request leaves no connection behind, and no traceback."""
    async with calling(proxy.port) as caller:
        await caller.send("POST", "/v1/files", [("Content-Length", "1000")])
        await caller.write(b"half")
        await until(lambda: upstream.open_connections > 0)
    await upstream.unconnected.wait()
    assert not upstream.exchanges
    assert not caplog.records


async def test_many_clients_that_leave_anywhere_leave_nothing(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """Forty at a time, at any step: afterwards no connection and no task is left."""
    idle = await proxy.tasks()
    upstream.answer = lambda _: chat_reply(*["word "] * 20)

    async def leave_after(steps: int) -> None:
        async with calling(proxy.port) as caller:
            await caller.send("POST", CHAT, body=b"{}")
            for _ in range(steps):
                await asyncio.sleep(0)

    for round_ in range(3):
        await asyncio.gather(*(leave_after(7 * n + round_) for n in range(40)))
    await until(lambda: fewer_tasks(proxy, len(idle)))
    assert proxy.app.state.drain.turns == 0


async def test_two_requests_share_a_connection(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """On both sides of the proxy."""
    upstream.script(document({"n": 1}), document({"n": 2}))
    async with calling(proxy.port) as caller:
        for number in (1, 2):
            await caller.send("GET", "/v1/models")
            assert json.loads((await caller.answer()).body) == {"n": number}
    assert upstream.connections == 1


@pytest.mark.parametrize("framing", ["chunked", "content-length"])
async def test_a_break_is_passed_on_in_kind(
    upstream: ScriptedUpstream,
    proxy: RunningProxy,
    framing: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No last chunk, no full length; one line in the log, no traceback."""
    length = (("content-length", "99"),) if framing == "content-length" else ()
    upstream.script(
        Reply(
            b"data: half",
            headers=length,
            framing="close" if length else "chunked",
            terminate="abort",
            gates={10: (gate := asyncio.Event())},
        )
    )
    async with calling(proxy.port) as caller:
        await caller.send("POST", CHAT, body=b"{}")
        await caller.head()
        pieces = caller.body()
        assert await anext(pieces) == b"data: half"
        gate.set()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await anext(pieces)
    await asyncio.gather(*(exchange.finished.wait() for exchange in upstream.exchanges))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "broke off in mid-answer" in caplog.text
    assert "Traceback" not in caplog.text


async def test_an_upstream_that_is_not_there_is_a_bad_gateway(
    upstream: ScriptedUpstream,
) -> None:
    """The answer has OpenAI's shape and says what to check."""
    settings = settings_for(upstream, upstream={"url": "http://key:hunter2@127.0.0.1:1/v1"})
    async with running_proxy(settings) as proxy:
        answer = await call(proxy.port, "POST", CHAT, body=b"{}")
    error = json.loads(answer.body)["error"]
    assert (answer.status, error["code"]) == (502, "upstream_unreachable")
    assert "upstream.url" in error["message"]
    assert "hunter2" not in error["message"]


async def test_an_upstream_that_is_silent_is_a_gateway_timeout(
    upstream: ScriptedUpstream,
) -> None:
    """The first-byte limit is named."""
    upstream.script(Reply(gates={-1: asyncio.Event()}))
    settings = settings_for(upstream, upstream={"firstByteTimeout": 0.05})
    async with running_proxy(settings) as proxy:
        answer = await call(proxy.port, "POST", CHAT, body=b"{}")
    assert answer.status == 504
    assert "upstream.firstByteTimeout" in json.loads(answer.body)["error"]["message"]


async def test_turns_beyond_the_limit_are_asked_to_come_back(upstream: ScriptedUpstream) -> None:
    """503 with Retry-After while the others go on, and room again once one has ended."""
    gate = asyncio.Event()
    upstream.script(Reply(b"one", gates={-1: gate}), document({}))
    async with running_proxy(settings_for(upstream, limits={"turns": 1})) as proxy:
        async with calling(proxy.port) as caller:
            await caller.send("GET", "/v1/models")
            await upstream.exchange()
            refused = await call(proxy.port, "GET", "/v1/models")
            probe = await call(proxy.port, "GET", "/healthz")
            gate.set()
            served = await caller.answer()
        await until(lambda: proxy.app.state.drain.turns == 0)
        again = await call(proxy.port, "GET", "/v1/models")
    assert (refused.status, refused.header("retry-after")) == (503, "1")
    assert "limits.turns" in json.loads(refused.body)["error"]["message"]
    assert (probe.status, served.body, again.status) == (200, b"one", 200)


@pytest.mark.parametrize("target", ["/responses", "/v1/responses", "/w/x/s/y/v1/responses"])
async def test_a_websocket_is_answered_with_upgrade_required(
    upstream: ScriptedUpstream,
    proxy: RunningProxy,
    target: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """426, which makes Codex fall back to HTTP for the session."""
    fields = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Key", "a")]
    answer = await call(proxy.port, "GET", target, fields)
    assert answer.status == 426
    assert "WebSocket" in json.loads(answer.body)["error"]["message"]
    assert not upstream.exchanges
    assert not caplog.records


async def test_an_offer_of_http2_does_not_cost_the_body(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """Java's client makes it with its first request."""
    upstream.script(document({}), document({}))
    fields = [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "")]
    async with calling(proxy.port) as caller:
        for _ in range(2):
            await caller.send("POST", CHAT, fields, b'{"model": "m"}')
            assert (await caller.answer()).status == 200
    assert [request.body for request in upstream.requests] == [b'{"model": "m"}'] * 2
    assert all("upgrade" not in "".join(request.names()) for request in upstream.requests)


async def test_a_page_from_elsewhere_is_refused(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """Nothing reaches the upstream; the answer names the header and the setting."""
    answer = await call(proxy.port, "POST", CHAT, [("Origin", "https://evil.example")], b"{}")
    message = json.loads(answer.body)["error"]["message"]
    assert answer.status == 403
    assert "Origin" in message
    assert "listen.allowedOrigins" in message
    assert not upstream.exchanges


async def test_an_app_with_an_origin_can_read_its_answer(
    upstream: ScriptedUpstream, proxy: RunningProxy
) -> None:
    """Its preflight is answered here, and the answer itself carries the permission."""
    upstream.script(document({}))
    origin = ("Origin", "vscode-webview://abc")
    asks = [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "x-a")]
    preflight = await call(proxy.port, "OPTIONS", CHAT, [origin, *asks])
    answer = await call(proxy.port, "POST", CHAT, [origin], b"{}")
    assert preflight.status == 204
    assert preflight.header("access-control-allow-headers") == "x-a"
    assert answer.header("access-control-allow-origin") == "vscode-webview://abc"
    assert len(upstream.exchanges) == 1


async def test_secrets_reach_the_upstream_and_no_log(
    upstream: ScriptedUpstream, proxy: RunningProxy, caplog: pytest.LogCaptureFixture
) -> None:
    """Keys in fields and query are passed on, and no line at any level has them."""
    caplog.set_level(logging.DEBUG)
    upstream.script(Reply(b"a", terminate="abort"), document({}))
    fields = [("Authorization", "Bearer hunter2"), ("api-key", "hunter2")]
    for _ in range(2):
        await call(proxy.port, "POST", f"{CHAT}?key=hunter2", fields, b"{}")
    assert upstream.requests[1].header("authorization") == "Bearer hunter2"
    assert upstream.requests[1].query == "key=hunter2"
    ours = [record for record in caplog.records if record.name.startswith(("proxy", "uvicorn"))]
    assert ours
    assert "hunter2" not in "".join(record.getMessage() for record in ours)


async def test_a_turn_is_drained_when_the_proxy_stops(upstream: ScriptedUpstream) -> None:
    """It ends as if nothing had happened, and the server ends behind it."""
    gate = asyncio.Event()
    upstream.script(Reply(b"one two", gates={4: gate}))
    async with running_proxy(settings_for(upstream), grace=20) as proxy:
        caller = await Caller.to(proxy.port)
        await caller.send("POST", CHAT, body=b"{}")
        await caller.head()
        pieces = caller.body()
        assert await anext(pieces) == b"one "
        proxy.stop()
        await until(lambda: proxy.app.state.drain.stopping)
        gate.set()
        assert [piece async for piece in pieces] == [b"two"]
        caller.leave()


async def test_a_turn_that_outlives_the_drain_is_cut(
    upstream: ScriptedUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    """Its upstream is closed, its client sees an unclean end, and no traceback is logged."""
    upstream.script(Reply(b"one two", gates={4: asyncio.Event()}))
    async with running_proxy(settings_for(upstream), grace=0.05) as proxy:
        caller = await Caller.to(proxy.port)
        await caller.send("POST", CHAT, body=b"{}")
        await caller.head()
        pieces = caller.body()
        await anext(pieces)
        proxy.stop()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await anext(pieces)
        caller.leave()
    await (await upstream.exchange()).closed.wait()
    assert not caplog.records
