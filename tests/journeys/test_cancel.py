"""Whoever leaves, and whatever is stopped: the upstream sees it at once, and nothing is left."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import Agent, agent_at, assembled, write_rules
from tests.support.chat import chat, chat_reply, completion
from tests.support.proxy import until
from tests.support.rules import rule_text
from tests.support.upstream import Exchange, Reply, ScriptedUpstream
from tests.support.wire import Caller, calling

pytestmark = pytest.mark.anyio

CHAT = "/v1/chat/completions"
# An upstream that closes within this saw the close long before any timeout of ours.
PROMPT = 1.0
# The end of the event that carries a piece of text.
BEHIND = b'%b"}, "finish_reason": null}]}\n\n'


@asynccontextmanager
async def agent_with_a_rule(
    upstream: ScriptedUpstream, workspace: Path, **settings: Any
) -> AsyncIterator[Agent]:
    write_rules(workspace, foo=rule_text("Say it kindly.", condition="FORBIDDEN"))
    async with agent_at(upstream, workspace, **settings) as agent:
        agent.messages = [{"role": "user", "content": "hi"}]
        yield agent


async def send(caller: Caller, agent: Agent, **more: Any) -> None:
    await caller.send("POST", CHAT, body=json.dumps(agent.body(**more)).encode())


async def read_to(caller: Caller, mark: bytes) -> tuple[bytes, AsyncIterator[bytes]]:
    """Read the answer's body until `mark` has come; the second value reads on."""
    await caller.head()
    got, pieces = b"", caller.body()
    async for piece in pieces:
        got += piece
        if mark in got:
            return got, pieces
    raise AssertionError(f"{mark!r} did not come")


async def assert_closed_promptly(exchange: Exchange, since: float) -> None:
    await asyncio.wait_for(exchange.closed.wait(), 5)
    assert exchange.closed_at is not None
    assert exchange.closed_at - since < PROMPT


def now() -> float:
    return asyncio.get_running_loop().time()


def stalled_behind(reply: Reply, mark: bytes) -> Reply:
    """The same answer, which never goes on behind `mark`."""
    return Reply(reply.body, gates={reply.body.index(mark) + len(mark): asyncio.Event()})


async def outcomes(agent: Agent, count: int) -> list[str]:
    """Wait for the rows of `count` turns; what was said of how they ended."""

    async def there() -> bool:
        return len(await agent.audit("turns")) == count

    await until(there)
    return [row["outcome"] for row in await agent.audit("turns")]


@pytest.mark.parametrize("stream", [True, False])
async def test_leaving_before_the_head_closes_the_upstream(
    upstream: ScriptedUpstream, tmp_path: Path, *, stream: bool
) -> None:
    """While the model still thinks."""
    upstream.script(Reply(chat("never"), gates={-1: asyncio.Event()}))
    async with agent_with_a_rule(upstream, tmp_path) as agent:
        async with calling(agent.proxy.port) as caller:
            await send(caller, agent, stream=stream)
            exchange = await upstream.exchange()
            left = now()
        await assert_closed_promptly(exchange, left)
        assert await outcomes(agent, 1) == ["client left"]
    assert exchange.sent == 0


async def test_leaving_in_mid_stream_closes_the_upstream(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The rest is never asked for."""
    reply = stalled_behind(chat_reply("one ", "two"), BEHIND % b"one ")
    upstream.script(reply)
    async with agent_with_a_rule(upstream, tmp_path) as agent:
        async with calling(agent.proxy.port) as caller:
            await send(caller, agent)
            await read_to(caller, b"one ")
            left = now()
        exchange = await upstream.exchange()
        await assert_closed_promptly(exchange, left)
        assert await outcomes(agent, 1) == ["client left"]
    assert exchange.sent < len(reply.body)


async def test_leaving_while_something_is_held_closes_the_upstream(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The client waits on us, not on the upstream."""
    upstream.script(stalled_behind(chat_reply("one ", "two FORBID", "den"), b"FORBID"))
    async with agent_with_a_rule(upstream, tmp_path) as agent:
        async with calling(agent.proxy.port) as caller:
            await send(caller, agent)
            assert b"FORBID" not in (await read_to(caller, b"one "))[0]
            left = now()
        await assert_closed_promptly(await upstream.exchange(), left)


async def test_leaving_a_whole_answer_closes_the_upstream(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """In the middle of a document of which the client has seen nothing."""
    upstream.script(Reply(completion("long").body, headers=(), gates={20: asyncio.Event()}))
    async with agent_with_a_rule(upstream, tmp_path) as agent:
        async with calling(agent.proxy.port) as caller:
            await send(caller, agent, stream=False)
            exchange = await upstream.exchange()
            await exchange.head_sent.wait()
            left = now()
        await assert_closed_promptly(exchange, left)
        assert await outcomes(agent, 1) == ["client left"]


@pytest.mark.parametrize("stream", [True, False])
async def test_interrupt_closes_the_upstream_before_the_next_attempt(
    upstream: ScriptedUpstream, tmp_path: Path, *, stream: bool
) -> None:
    """The cut answer is not read on: its upstream never came to send the rest."""
    first = stalled_behind(chat_reply("A FORBIDDEN", "and more"), BEHIND % b"FORBIDDEN")
    if not stream:
        first = completion("A FORBIDDEN")
    upstream.script(first, chat_reply("B") if stream else completion("B"))
    async with agent_with_a_rule(upstream, tmp_path) as agent:
        agent.stream = stream
        begun = now()
        assert "B" in (await agent.go())["content"]
        if stream:
            await assert_closed_promptly(upstream.exchanges[0], begun)
            assert upstream.exchanges[0].sent < len(first.body)


async def test_leaving_between_attempts_closes_the_upstream(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The reissued request is cancelled, and no third one is made."""
    upstream.script(chat_reply("A ", "FORBIDDEN"), Reply(chat("B"), gates={-1: asyncio.Event()}))
    async with agent_with_a_rule(upstream, tmp_path) as agent:
        async with calling(agent.proxy.port) as caller:
            await send(caller, agent)
            await read_to(caller, b"A ")
            second = await upstream.exchange(1)
            left = now()
        await assert_closed_promptly(second, left)
        assert await outcomes(agent, 1) == ["client left"]
    assert len(upstream.exchanges) == 2


async def test_leaving_in_a_retrys_pause_makes_no_further_request(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Retry-After of a minute, and nobody who waits for it."""
    busy = Reply(b"{}", 429, (("retry-after", "60"),), framing="content-length")
    upstream.script(chat_reply("A ", "FORBIDDEN"), busy)
    async with agent_with_a_rule(upstream, tmp_path) as agent:
        async with calling(agent.proxy.port) as caller:
            await send(caller, agent)
            await read_to(caller, b"A ")
            await (await upstream.exchange(1)).finished.wait()
        assert await outcomes(agent, 1) == ["client left"]
        assert agent.proxy.app.state.drain.turns == 0
    assert len(upstream.exchanges) == 2


async def test_leaving_while_the_store_is_written_closes_the_upstream(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Another process holds the database; the answer's last event waits, and its client goes."""
    second = chat_reply("B")
    unending = Reply(second.body, gates={len(second.body): asyncio.Event()})
    upstream.script(chat_reply("A ", "FORBIDDEN"), unending)
    async with agent_with_a_rule(upstream, tmp_path) as agent:
        await agent.audit("turns")  # the database is there
        with closing(sqlite3.connect(tmp_path / "ttsr.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            async with calling(agent.proxy.port) as caller:
                await send(caller, agent)
                assert b"[DONE]" not in (await read_to(caller, b'"B"'))[0]
                left = now()
            await assert_closed_promptly(await upstream.exchange(1), left)
            other.execute("ROLLBACK")
        assert (await outcomes(agent, 1))[0].startswith("client left")


async def test_turns_that_are_left_anywhere_leave_no_task(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Interrupted, between attempts, in the stream: afterwards the same tasks run as before."""

    def answer(request: Any) -> Reply:
        reissued = len(request.json["messages"]) > 1
        return chat_reply(*["word "] * 10) if reissued else chat_reply("A ", "FORBIDDEN")

    upstream.answer = answer
    async with agent_with_a_rule(upstream, tmp_path) as agent:
        await agent.audit("turns")
        idle = len(await agent.proxy.tasks())

        async def leave_after(steps: int) -> None:
            async with calling(agent.proxy.port) as caller:
                await send(caller, agent)
                for _ in range(steps):
                    await asyncio.sleep(0)

        for round_ in range(3):
            await asyncio.gather(*(leave_after(9 * n + round_) for n in range(30)))

        async def quiet() -> bool:
            return len(await agent.proxy.tasks()) <= idle

        await until(quiet)
        assert agent.proxy.app.state.drain.turns == 0


# ---- the proxy stops


async def stopped(agent: Agent) -> None:
    """Tell the proxy to stop, and wait until it has begun to."""

    async def stopping() -> bool:
        return bool(agent.proxy.app.state.drain.stopping)

    agent.proxy.stop()
    await until(stopping)


async def test_interrupted_turn_is_drained_when_the_proxy_stops(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Its next attempt still goes out, its splice is stored, and it ends as usual."""
    gate = asyncio.Event()
    upstream.script(chat_reply("A ", "FORBIDDEN"), Reply(chat("B"), gates={-1: gate}))
    async with (
        agent_with_a_rule(upstream, tmp_path, grace=20) as agent,
        calling(agent.proxy.port) as caller,
    ):
        await send(caller, agent)
        got, pieces = await read_to(caller, b"A ")
        await upstream.exchange(1)
        await stopped(agent)
        gate.set()
        async for piece in pieces:
            got += piece
    assert assembled(got)["content"] == "A \n\nB"
    assert got.endswith(b"data: [DONE]\n\n")
    with closing(sqlite3.connect(tmp_path / "ttsr.db")) as database:
        assert database.execute("SELECT count(*) FROM splice").fetchone() == (1,)
        assert database.execute("SELECT outcome FROM turn").fetchall() == [("completed",)]


@pytest.mark.parametrize("phase", ["in mid-stream", "between attempts"])
async def test_turn_that_outlives_the_drain_ends_in_an_error_event(
    upstream: ScriptedUpstream, tmp_path: Path, phase: str
) -> None:
    """Its upstream is closed, its client is told, and no end mark pretends that it was whole."""
    stalled = stalled_behind(chat_reply("A ", "B"), BEHIND % b"A ")
    if phase == "between attempts":
        upstream.script(chat_reply("A ", "FORBIDDEN"))
        stalled = Reply(chat("B"), gates={-1: asyncio.Event()})
    upstream.script(stalled)
    async with agent_with_a_rule(upstream, tmp_path, grace=0.05) as agent:
        async with calling(agent.proxy.port) as caller:
            await send(caller, agent)
            got, pieces = await read_to(caller, b"A ")
            last = await upstream.exchange(1 if phase == "between attempts" else 0)
            agent.proxy.stop()
            async for piece in pieces:
                got += piece
        await asyncio.wait_for(last.closed.wait(), 5)
    error = json.loads(got.strip().rpartition(b"data: ")[2])["error"]
    assert (error["type"], error["code"]) == ("ttsr_error", "shutting_down")
    assert b"[DONE]" not in got


async def test_whole_answer_that_outlives_the_drain_is_asked_to_come_back(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """503 with Retry-After, as nothing was sent yet; so is a request behind the stop."""
    upstream.script(Reply(completion("A").body, headers=(), gates={20: asyncio.Event()}))
    async with (
        agent_with_a_rule(upstream, tmp_path, grace=0.5) as agent,
        calling(agent.proxy.port) as caller,
        calling(agent.proxy.port) as late,
    ):
        await late.send("GET", "/healthz")
        await late.answer()
        await send(caller, agent, stream=False)
        await (await upstream.exchange()).head_sent.wait()
        await stopped(agent)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await send(late, agent)
            assert (await late.answer()).status == 503
        answer = await caller.answer()
    assert (answer.status, answer.header("retry-after")) == (503, "1")
    assert json.loads(answer.body)["error"]["code"] == "shutting_down"
    assert len(upstream.exchanges) == 1
