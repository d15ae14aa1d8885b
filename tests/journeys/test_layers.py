"""Prompt layers through the real server: what stands in the system prompt, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.agent import agent_at, sent, write_rules
from tests.support.chat import chat_reply
from tests.support.rules import rule_text
from tests.support.upstream import Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio

ALWAYS = rule_text("Write short sentences.", alwaysApply=True)


async def test_layers_follow_the_clients_system_message(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """They stand behind its text, in every request the same, and in a reissued one too."""
    write_rules(tmp_path, short=ALWAYS, foo=rule_text("No.", condition="FORBIDDEN"))
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("Better."), chat_reply("Two."))
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages = [{"role": "developer", "content": "You are an agent."}]
        await agent.ask("hi")
        await agent.ask("more")
        prompts = [sent(upstream, number)[0] for number in range(3)]
        assert prompts[0] == prompts[1] == prompts[2]
        assert prompts[0]["role"] == "developer"
        assert prompts[0]["content"].startswith("You are an agent.\n\n<generic-rules>")


async def test_request_without_a_system_message_gets_one(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """There is nothing to append to, so a system message is put in front."""
    write_rules(tmp_path, short=ALWAYS)
    upstream.script(chat_reply("ok"))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        system, user = sent(upstream)
        assert system["role"] == "system"
        assert "Write short sentences." in system["content"]
        assert user["content"] == "hi"


async def test_side_requests_get_no_layers(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """A title needs no rules."""
    write_rules(tmp_path, short=ALWAYS)
    upstream.script(chat_reply("A title"))
    async with agent_at(upstream, tmp_path) as agent:
        agent.tools = ()
        agent.headers = {"user-agent": "opencode/1.18.33 ai-sdk/openai-compatible"}
        system = "You are a title generator. You output ONLY a thread title. Nothing else."
        agent.messages = [{"role": "system", "content": system}]
        await agent.ask("Generate a title")
        assert sent(upstream)[0]["content"] == system


async def test_upstream_that_refuses_the_layers_gets_the_clients_request(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """What the proxy adds never keeps a request from being answered."""
    write_rules(tmp_path, short=ALWAYS)
    upstream.script(Reply(b"{}", 400), chat_reply("ok"))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await agent.ask("hi"))["content"] == "ok"
        assert [m["role"] for m in sent(upstream)] == ["user"]
