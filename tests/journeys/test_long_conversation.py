"""A conversation of more than a megabyte, which is read and edited beside the event loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.beside import LARGE
from tests.support.agent import agent_at, sent, write_rules
from tests.support.chat import chat_reply
from tests.support.request_path import conversation
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio

RULE = rule_text("Say it kindly.", condition="FORBIDDEN")


async def test_long_conversation_is_stopped_and_remembered(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The interrupt goes behind it, stays there in later turns, and nothing else is changed."""
    write_rules(tmp_path, kindly=RULE)
    history = conversation(60, LARGE // 60)
    upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("B"), chat_reply("C"))
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages = list(history)
        assert (await agent.ask("go on"))["content"] == "A \n\nB"
        assert sent(upstream)[: len(history)] == history
        reissue = sent(upstream)
        await agent.ask("and on")
        assert (await agent.audit())[0]["action"] == "interrupt"
    assert len(upstream.requests[0].body) > LARGE
    assert upstream.requests[0].json["messages"] == [*history, {"role": "user", "content": "go on"}]
    assert "Say it kindly." in str(reissue[len(history) :])
    assert sent(upstream)[: len(reissue)] == reissue
