"""A fault of ours in reading or matching an answer costs the rules, never the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxy.assembly import assemble
from proxy.wire import WireApi
from tests.support.agent import PATIENT, Agent, write_rules
from tests.support.chat import chat_reply, completion, events
from tests.support.faulty_wire import FaultyApi, SpeechlessApi, Where
from tests.support.proxy import running_proxy, settings_for
from tests.support.rules import rule_text
from tests.support.upstream import Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio

RULE = rule_text("Say it kindly.", condition="FORBIDDEN")
# Its last words could begin a match, so that something is held when the fault happens.
STREAM = chat_reply("one ", "two FORBID", "FAULT", " three")


@asynccontextmanager
async def agent_with(
    upstream: ScriptedUpstream, workspace: Path, api: WireApi, **settings: Any
) -> AsyncIterator[Agent]:
    write_rules(workspace, foo=RULE)
    given = settings_for(
        upstream, workspace=str(workspace), db=str(workspace / "ttsr.db"), **settings
    )
    build = partial(assemble, home=workspace / "no-home", wire=api, patience=PATIENT)
    async with running_proxy(given, build) as proxy, httpx.AsyncClient(timeout=30) as http:
        agent = Agent(http, proxy)
        agent.messages = [{"role": "user", "content": "hi"}]
        yield agent


async def read_to_its_end(agent: Agent) -> tuple[bytes, bool]:
    """Give what the client gets, and whether it broke off."""
    got = b""
    url = f"{agent.proxy.url}/chat/completions"
    async with agent.http.stream("POST", url, json=agent.body()) as answer:
        try:
            async for piece in answer.aiter_raw():
                got += piece
        except httpx.RemoteProtocolError:
            return got, True
    return got, False


@pytest.mark.parametrize("where", ["decode", "close", "finish", "message"])
@pytest.mark.parametrize("cut", ["events", "whole", "every byte"])
async def test_stream_falls_open_with_every_byte(
    upstream: ScriptedUpstream,
    tmp_path: Path,
    where: Where,
    cut: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What is held and what comes later goes out as it came, and the audit says why."""
    splits: dict[str, Any] = {"events": STREAM.splits, "whole": (), "every byte": "every_byte"}
    upstream.script(Reply(STREAM.body, splits=splits[cut]))
    async with agent_with(upstream, tmp_path, FaultyApi(where)) as agent:
        answer = await agent.post()
        assert answer.content == STREAM.body
        (turn,) = await agent.audit("turns")
    assert turn["outcome"].startswith("completed")
    if where != "message":
        assert "rules off: a fault of ours" in turn["outcome"]
        assert "a fault of ours while matching: Fault" in caplog.text
    assert "secret words" not in caplog.text
    assert "Traceback" not in caplog.text


async def test_fault_behind_a_cut_is_a_break(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """The upstream is gone by then: what was held goes out, and it does not look complete."""
    body = b"".join(events("one ", "two FORBIDDEN")[:3])
    upstream.script(Reply(body, terminate="stall"))
    async with agent_with(upstream, tmp_path, SpeechlessApi()) as agent:
        got, broken = await read_to_its_end(agent)
        (turn,) = await agent.audit("turns")
    assert (got, broken) == (body, True)
    assert turn["outcome"].startswith("upstream_broken; rules off: a fault of ours")


@pytest.mark.parametrize("ending", ["abort", "clean"])
async def test_stream_without_an_end_mark_falls_open(
    upstream: ScriptedUpstream, tmp_path: Path, ending: Any
) -> None:
    """The last event is not terminated, and the fault is in it; its end is the upstream's."""
    body = STREAM.body[: STREAM.body.index(b"FAULT") + 5]
    upstream.script(Reply(body, terminate=ending))
    async with agent_with(upstream, tmp_path, FaultyApi("decode")) as agent:
        got, broken = await read_to_its_end(agent)
    assert got == body
    assert broken is (ending == "abort")


@pytest.mark.parametrize("where", ["decode", "close", "finish"])
async def test_stream_ends_in_an_error_event_where_it_must_not_fall_open(
    upstream: ScriptedUpstream, tmp_path: Path, where: Where
) -> None:
    """With `failMode: closed` nothing held goes out, and there is no end mark."""
    upstream.script(STREAM)
    async with agent_with(upstream, tmp_path, FaultyApi(where), failMode="closed") as agent:
        answer = await agent.post()
        (turn,) = await agent.audit("turns")
    assert STREAM.body.startswith(answer.content.partition(b'data: {"error"')[0])
    assert '"type": "ttsr_error"' in answer.text or '"type":"ttsr_error"' in answer.text
    assert "rules_unavailable" in answer.text
    assert "[DONE]" not in answer.text
    assert "FAULT" not in answer.text or where != "decode"
    assert turn["outcome"].startswith("rules_unavailable")


@pytest.mark.parametrize("where", ["document", "close", "message"])
async def test_whole_answer_falls_open(
    upstream: ScriptedUpstream, tmp_path: Path, where: Where
) -> None:
    """The upstream's document as it came."""
    reply = completion("a FORBID")
    upstream.script(reply)
    async with agent_with(upstream, tmp_path, FaultyApi(where)) as agent:
        agent.stream = False
        answer = await agent.post()
    assert (answer.status_code, answer.content) == (200, reply.body)


async def test_whole_answer_is_refused_where_it_must_not_fall_open(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """503 that says so."""
    upstream.script(completion("a FORBID"))
    api = FaultyApi("document")
    async with agent_with(upstream, tmp_path, api, failMode="closed") as agent:
        agent.stream = False
        answer = await agent.post()
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "rules_unavailable"


@pytest.mark.parametrize("where", ["decode", "close", "finish"])
async def test_later_attempt_loses_nothing(
    upstream: ScriptedUpstream, tmp_path: Path, where: Where
) -> None:
    """Behind an interrupt, what cannot be read any more is passed on rather than dropped."""
    upstream.script(chat_reply("A ", "FORBIDDEN"), STREAM, chat_reply("more"))
    async with agent_with(upstream, tmp_path, FaultyApi(where, attempt=2)) as agent:
        answer = await agent.post()
    text = answer.text
    order: list[Callable[[], int]] = [partial(text.index, said) for said in
                                      ("A ", "one ", "two FORBID", "FAULT", " three")]  # fmt: skip
    places = [place() for place in order]
    assert places == sorted(places)
    assert "FORBIDDEN" not in text
    assert text.count("[DONE]") == 1
