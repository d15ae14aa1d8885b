"""Structure triggers through the real server: on the finished call, before it is released."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import anyio
import pytest

from proxy.patience import Patience
from tests.support.agent import Agent, agent_at, sent, write_rules
from tests.support.chat import Tool, chat, chat_reply, completion
from tests.support.proxy import until
from tests.support.rules import rule_text
from tests.support.upstream import Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio

LOUD = rule_text("No debugger.", astCondition="debugger", scope="tool:write(*.ts)")
QUIET = rule_text(
    "No debugger.", astCondition="debugger", scope="tool:write(*.ts)", interruptMode="never"
)


def write(source: str, path: str = "a.ts", call: str = "c1") -> Tool:
    """A call that writes a file."""
    return Tool("write", json.dumps({"path": path, "content": source}), call)


@pytest.mark.case(101)
@pytest.mark.case(103)
async def test_structure_in_a_finished_call_is_refused(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The call never reaches the client; the same source in a Markdown file is none of it."""
    write_rules(tmp_path, foo=LOUD)
    bad = "function f() {\n  debugger;\n}\n"
    upstream.script(
        chat_reply(write(bad)),
        chat_reply(write("const a = 1;\n", call="c2")),
        chat_reply(write(bad, "a.md", "c3")),
    )
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert [call["id"] for call in message["tool_calls"]] == ["c2"]
        assert "No debugger." in sent(upstream)[-1]["content"]
        message = await agent.results("ok")
        assert [call["id"] for call in message["tool_calls"]] == ["c3"]
        (hit,) = await agent.audit()
        assert (hit["action"], hit["target_path"]) == ("refuse", "a.ts")


@pytest.mark.case(100)
async def test_code_in_prose_is_no_structure(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Structures are searched in the source of calls alone."""
    write_rules(tmp_path, foo=rule_text("No.", astCondition="debugger"))
    upstream.script(chat_reply("Use `debugger;` here."))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await agent.ask("hi"))["content"] == "Use `debugger;` here."


async def test_quiet_structure_reminds_at_the_result(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Mode never: the call runs, and its result is told about."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply(write("debugger;\n")), chat_reply("Done."))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await agent.ask("hi"))["tool_calls"]
        await agent.results("written")
        assert sent(upstream)[-1]["content"].startswith("<system-reminder ")


async def test_large_source_is_searched_off_the_event_loop(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A search that would hold up other streams runs in another process, with the same answer."""
    write_rules(tmp_path, foo=QUIET)
    source = "const a = 1;\n" * 10_000 + "debugger;\n"
    upstream.script(chat_reply(Tool("write", json.dumps({"path": "a.ts", "content": source}),
                                    piece=4096)))  # fmt: skip
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        (hit,) = await agent.audit()
        assert hit["action"] == "tool_reminder"


@pytest.mark.case(105)
async def test_either_trigger_suffices(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """A rule with a condition and a structure hits by the condition alone."""
    both = rule_text("No.", condition="FORBIDDEN", astCondition="debugger", scope="tool:write")
    write_rules(tmp_path, foo=both)
    upstream.script(chat_reply(write("// FORBIDDEN\n")), chat_reply("Given up."))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await agent.ask("hi"))["content"] == "Given up."


async def test_whole_answers_are_searched_too(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """An answer that is not streamed takes the same path."""
    write_rules(tmp_path, foo=LOUD)
    upstream.script(completion(write("debugger;\n")), completion("ok"))
    async with agent_at(upstream, tmp_path) as agent:
        agent.stream = False
        assert (await agent.ask("hi"))["content"] == "ok"


@pytest.mark.parametrize("piece", [7, 900])
async def test_closed_statement_cuts_a_long_call_before_the_rest_is_sent(
    upstream: ScriptedUpstream, tmp_path: Path, piece: int
) -> None:
    """The upstream is left while the file is still being written; nothing of it goes out."""
    write_rules(tmp_path, foo=rule_text("No eval.", astCondition="eval($X)", scope="tool:write"))
    more = "".join(f"    const n{number} = run({number});\n" for number in range(400))
    source = f"export function f(a) {{\n    eval(a);\n{more}}}\n"
    call = Tool("write", json.dumps({"path": "a.ts", "content": source}), "c1", piece=piece)
    body = chat(call)
    never = asyncio.Event()
    upstream.script(
        Reply(body, gates={body.index(b"n80 "): never}),
        chat_reply(write("export const a = 1;\n", call="c2")),
    )
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert [call["id"] for call in message["tool_calls"]] == ["c2"]
        assert upstream.exchanges[0].closed.is_set()
        note = sent(upstream)[-1]
        assert note["role"] == "user"
        assert "No eval." in note["content"]
        (hit,) = await agent.audit()
        assert (hit["action"], hit["target_path"]) == ("interrupt", "a.ts")
        (turn,) = await agent.audit("turns")
        assert (turn["attempts"], turn["cured"]) == (2, True)


@pytest.mark.parametrize("line", [15_000, 1_500])
async def test_source_that_the_parser_cannot_manage_ends_unchecked(
    upstream: ScriptedUpstream, tmp_path: Path, line: int
) -> None:
    """The call goes out when searches have had their time, other streams flow, the audit tells.

    Where it has lines, it is searched while it streams too.
    """
    write_rules(tmp_path, foo=rule_text("No.", astCondition="debugger", scope="tool:write"))
    upstream.script(
        chat_reply(write(("a=>" * (line // 3) + "\n") * (15_000 // line), "A.java")),
        chat_reply("Meanwhile."),
    )
    async with agent_at(upstream, tmp_path, patience=Patience(structures=1)) as agent:
        other = Agent(agent.http, agent.proxy)
        async with anyio.create_task_group() as group:
            group.start_soon(agent.ask, "hi")
            await until(lambda: bool(upstream.exchanges))
            assert (await other.ask("hi"))["content"] == "Meanwhile."
        assert agent.messages[-1]["tool_calls"]
        (hit,) = await agent.audit()
        assert hit["action"] == "quarantined"
