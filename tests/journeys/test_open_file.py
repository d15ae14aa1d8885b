"""An agent whose tools edit the file that it opened before, and name none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.agent import TOOLS, agent_at, sent, write_rules
from tests.support.chat import Tool, chat_reply
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio

WINDOWED = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("open", "goto", "edit")
]


def opening(path: str, letter: str) -> Tool:
    return Tool("open", json.dumps({"path": path}), f"call_Open9{letter}")


def editing(new: str, letter: str) -> Tool:
    return Tool("edit", json.dumps({"search": "FORBIDDEN", "replace": new}), f"call_Edit9{letter}")


async def test_rule_with_a_glob_holds_for_the_open_file(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The same edit is stopped in a Python file, and let through in the text file opened next."""
    write_rules(tmp_path, foo=rule_text("Kindly.", condition="FORBIDDEN", scope="tool:edit(*.py)"))
    upstream.script(
        chat_reply(opening("src/a.py", "a")),
        chat_reply(editing("FORBIDDEN", "b")),
        chat_reply(editing("fine", "c")),
        chat_reply(opening("a.txt", "d")),
        chat_reply(editing("FORBIDDEN", "e")),
    )
    async with agent_at(upstream, tmp_path) as agent:
        agent.tools = WINDOWED
        await agent.ask("go")
        message = await agent.results("[File: src/a.py]")
        assert json.loads(message["tool_calls"][0]["function"]["arguments"])["replace"] == "fine"
        assert "`edit` on `src/a.py`" in sent(upstream)[-1]["content"]
        await agent.results("done")
        message = await agent.results("[File: a.txt]")
        assert len(upstream.exchanges) == 5
        (hit,) = await agent.audit()
        assert (hit["target_path"], hit["agent"]) == ("src/a.py", "swe-agent")


async def test_tools_of_other_agents_are_not_asked_what_was_opened(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A tool called `open` may open anything."""
    write_rules(tmp_path, foo=rule_text("Kindly.", condition="FORBIDDEN", scope="tool:edit(*.py)"))
    upstream.script(chat_reply(opening("src/a.py", "a")), chat_reply(editing("FORBIDDEN", "b")))
    async with agent_at(upstream, tmp_path) as agent:
        agent.tools = TOOLS
        await agent.ask("go")
        await agent.results("shown")
        assert len(upstream.exchanges) == 2
        assert await agent.audit() == []
