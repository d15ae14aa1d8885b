"""Keys, tokens and logins of clients and upstreams: never in a log, the audit or an error."""

from __future__ import annotations

import json
import logging
from contextlib import closing
from functools import partial
from io import StringIO
from pathlib import Path
from sqlite3 import connect
from urllib.parse import quote

import pytest

from proxy.assembly import assemble
from proxy.logs import logging_to
from tests.support.agent import write_rules
from tests.support.chat import chat_reply
from tests.support.proxy import running_proxy, settings_for
from tests.support.rules import rule_text
from tests.support.upstream import Reply, ScriptedUpstream, document
from tests.support.wire import call, calling

pytestmark = pytest.mark.anyio

CHAT = "/v1/chat/completions"
MARK = "hunter2hunter2"
KEY = f"sk-{MARK}0123456789abcdef"
FIELDS = [
    ("Authorization", f"Bearer {KEY}"), ("api-key", KEY), ("x-api-key", MARK),
    ("x-goog-api-key", MARK), ("Cookie", f"session={MARK}"), ("chatgpt-account-id", MARK),
    ("OpenAI-Organization", MARK),
]  # fmt: skip
BODY = json.dumps({"messages": [{"role": "user", "content": "hi"}], "stream": True}).encode()
ECHO = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}


def failing_replies() -> list[Reply]:
    """One turn each, but where a reissue fails."""
    interrupted = chat_reply("A ", "FORBIDDEN")
    return [
        chat_reply("fine"),
        document(ECHO, 401),
        interrupted, document(ECHO, 401),
        interrupted, *[Reply(b"{}", 503, (("retry-after", "0"),), framing="content-length")] * 3,
        Reply(chat_reply("half").body[:80], terminate="abort"),
        Reply(b"\x00not http", framing="close", headers=(("content-encoding", "gzip"),)),
        document({}, 500),
    ]  # fmt: skip


async def test_secrets_of_failing_requests_are_nowhere(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Every log line at every level, every row, and every answer of our own is searched."""
    write_rules(tmp_path, foo=rule_text("Say it kindly.", condition="FORBIDDEN"))
    upstream.script(*failing_replies())
    login = upstream.url.replace("http://", f"http://{MARK}:{quote(KEY)}@")
    logged, ours = StringIO(), []
    settings = settings_for(
        upstream, workspace=str(tmp_path), db=str(tmp_path / "t.db"), upstream={"url": login}
    )
    build = partial(assemble, home=tmp_path / "no-home")
    with logging_to(logged, "debug"):
        async with running_proxy(settings, build) as proxy:
            target = f"{CHAT}?key={MARK}"
            for _ in range(7):
                answer = await call(proxy.port, "POST", target, FIELDS, BODY)
                ours.append(b"" if answer.status == 401 else answer.body)
            bad = [b"{", json.dumps({"api_key": KEY}).encode()]
            ours += [(await call(proxy.port, "POST", target, FIELDS, body)).body for body in bad]
            elsewhere = [*FIELDS, ("Origin", "https://evil.example")]
            ours.append((await call(proxy.port, "POST", target, elsewhere, BODY)).body)
            async with calling(proxy.port) as caller:
                await caller.send("POST", target, FIELDS, BODY)
            for path in ("audit", "audit/hits", "audit/turns", "readyz"):
                ours.append((await call(proxy.port, "GET", f"/{path}")).body)
        for url in (f"http://{MARK}:{KEY}@127.0.0.1:1/v1", f"http://{MARK}:{KEY}@no.invalid/v1"):
            nowhere = settings_for(
                upstream, workspace=str(tmp_path), db=str(tmp_path / "t.db"), upstream={"url": url}
            )
            async with running_proxy(nowhere, build) as proxy:
                answer = await call(proxy.port, "POST", CHAT, FIELDS, BODY)
                assert answer.status == 502
                ours.append(answer.body)
    assert "ttsr_triggered" in logged.getvalue()
    assert MARK not in logged.getvalue()
    assert [body for body in ours if MARK.encode() in body] == []
    with closing(connect(tmp_path / "t.db")) as database:
        dump = "\n".join(database.iterdump())
        assert 'INSERT INTO "turn"' in dump
    assert MARK not in dump
    assert len(upstream.exchanges) >= len(failing_replies())


async def test_secrets_reach_the_upstream_unchanged(
    upstream: ScriptedUpstream, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Every attempt of a turn carries what the client sent; a login of the URL is sent too."""
    caplog.set_level(logging.DEBUG)
    write_rules(tmp_path, foo=rule_text("Say it kindly.", condition="FORBIDDEN"))
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"), chat_reply("C"))
    login = upstream.url.replace("http://", "http://me:hunter2@")
    settings = settings_for(
        upstream, workspace=str(tmp_path), db=str(tmp_path / "t.db"), upstream={"url": login}
    )
    async with running_proxy(settings, partial(assemble, home=tmp_path / "no-home")) as proxy:
        await call(proxy.port, "POST", f"{CHAT}?key={MARK}", FIELDS, BODY)
        await call(proxy.port, "POST", CHAT, [], BODY)
    for request in upstream.requests[:2]:
        assert request.query == f"key={MARK}"
        assert {name: request.header(name) for name, _ in FIELDS} == dict(FIELDS)
    assert (upstream.requests[2].header("authorization") or "").startswith("Basic ")
