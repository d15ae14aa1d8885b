"""The steps before a turn: what is refused, what is looked up, what goes upstream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import Agent, agent_at, arguments, sent, write_rules
from tests.support.chat import Tool, chat_reply, completion
from tests.support.packing import PACKED_BY
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream
from tests.support.wire import call

pytestmark = pytest.mark.anyio

CHAT = "/v1/chat/completions"
FOO = rule_text("Say it kindly.", condition="FORBIDDEN")


def body_of(agent: Agent, **more: Any) -> bytes:
    return json.dumps(agent.body(**more)).encode()


@pytest.mark.parametrize("coding", PACKED_BY)
async def test_packed_body_goes_out_packed_unless_it_is_changed(
    upstream: ScriptedUpstream, tmp_path: Path, coding: str
) -> None:
    """The client's own bytes and coding; what we wrote anew has no coding."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"))
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages = [{"role": "user", "content": "hi"}]
        packed = PACKED_BY[coding](body_of(agent))
        fields = [("Content-Encoding", coding), ("Content-Type", "application/json")]
        answer = await call(agent.proxy.port, "POST", CHAT, fields, packed)
    assert answer.status == 200
    first, second = upstream.requests
    assert (first.body, first.header("content-encoding")) == (packed, coding)
    assert second.header("content-encoding") is None
    assert "Say it kindly." in str(second.json)


@pytest.mark.parametrize("coding", PACKED_BY)
async def test_packed_body_that_grows_beyond_the_limit_is_refused(
    upstream: ScriptedUpstream, tmp_path: Path, coding: str
) -> None:
    """A small body that would take all memory is no request."""
    async with agent_at(upstream, tmp_path, limits={"body": 10_000}) as agent:
        agent.messages = [{"role": "user", "content": "x" * 1_000_000}]
        fields = [("Content-Encoding", coding)]
        packed = PACKED_BY[coding](body_of(agent))
        answer = await call(agent.proxy.port, "POST", CHAT, fields, packed)
    assert answer.status in {400, 413}
    assert not upstream.exchanges


async def test_dry_run_only_looks(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Hits are audited as observed; neither stream nor conversation is changed."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"))
    async with agent_at(upstream, tmp_path, dryRun=True) as agent:
        assert (await agent.ask("hi"))["content"] == "A FORBIDDEN"
        await agent.ask("more")
        assert [hit["action"] for hit in await agent.audit()] == ["observed"]
        assert sent(upstream) == agent.messages[:-1]


async def test_edited_rule_is_armed_again(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """What its old text told does not count for the new one."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("B"))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        kept = agent.messages
    write_rules(tmp_path, foo=rule_text("Say it even more kindly.", condition="FORBIDDEN"))
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("C"))
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages = kept
        assert (await agent.ask("more"))["content"] == "C"
        assert "even more kindly" in str(sent(upstream))


async def test_reminders_stand_where_the_settings_say(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """`reminderPlacement: message`: the tool's result stays as the agent wrote it."""
    write_rules(tmp_path, foo=rule_text("Mind it.", condition="x", interruptMode="never"))
    edit = Tool("edit", arguments("a.ts", "x"), "c1")
    upstream.script(chat_reply(edit), chat_reply("Done."))
    async with agent_at(upstream, tmp_path, reminderPlacement="message") as agent:
        await agent.ask("hi")
        await agent.results("ok")
        assert [m["role"] for m in sent(upstream)][-2:] == ["tool", "user"]
        assert sent(upstream)[-2]["content"] == "ok"


async def test_several_choices_are_observed(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Nothing that was not asked of one answer alone is interrupted."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(completion("FORBIDDEN"))
    async with agent_at(upstream, tmp_path) as agent:
        agent.stream = False
        assert (await agent.ask("hi", n=2))["content"] == "FORBIDDEN"
    assert len(upstream.exchanges) == 1
