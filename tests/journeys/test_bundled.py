"""The bundled rules through the real server: in force by default, quiet, and about files alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.agent import agent_at, sent
from tests.support.chat import Tool, chat_reply
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio


def write(path: str, content: str) -> Tool:
    """A write as the model calls it."""
    return Tool("write", json.dumps({"file_path": path, "content": content}), "call_x0z", 0)


async def test_bundled_rule_leaves_a_reminder_and_stops_nothing(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The call runs; its result says the rule, and the rule's file is shown as a bundled one."""
    upstream.script(chat_reply(write("a.go", 'import "io/ioutil"\n')), chat_reply("Done."))
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert len(message["tool_calls"]) == 1
        assert len(upstream.exchanges) == 1
        await agent.results("written")
        told = sent(upstream)[-1]["content"]
        assert 'path="builtin-defaults:go-ioutil.md"' in told
        assert "os.ReadFile" in told
        assert told.endswith("</system-reminder>\n\nwritten")


async def test_bundled_rules_are_silent_when_switched_off(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """One by name, or all."""
    for block in ({"disabledRules": ["go-ioutil"]}, {"builtinRules": False}):
        upstream.script(chat_reply(write("a.go", 'import "io/ioutil"\n')), chat_reply("Done."))
        async with agent_at(upstream, tmp_path, ttsr=block) as agent:
            await agent.ask("hi")
            await agent.results("written")
            assert sent(upstream)[-1]["content"] == "written"
            assert await agent.audit() == []


@pytest.mark.case(100)
async def test_prose_that_holds_the_code_is_no_hit(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Structures and patterns of files are not looked for in what the model says."""
    prose = 'Do not write `import "io/ioutil"`, nor `for i := 0; i < n; i++ {}`.'
    upstream.script(chat_reply(prose), chat_reply("Done."))
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert message["content"] == prose
        await agent.ask("more")
        assert await agent.audit() == []
