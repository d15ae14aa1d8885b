"""Reminders through the real server: in front of a call's result, or behind a message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.agent import agent_at, arguments, sent, write_rules
from tests.support.chat import Tool, chat_reply
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio

QUIET = rule_text("Quiet text.", condition="FORBIDDEN", interruptMode="never")


def edit(new: str, number: int = 0, path: str = "a.ts") -> Tool:
    """An edit as the model calls it."""
    return Tool("edit", arguments(path, new), f"call_x{number}z", number)


@pytest.mark.case(119)
@pytest.mark.case(120)
async def test_tool_reminder_stands_in_front_of_the_result(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The call runs, no extra request is made; the next one tells the rule at the result."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply(edit("FORBIDDEN")), chat_reply("Done."), chat_reply("More."))
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert len(message["tool_calls"]) == 1
        assert len(upstream.exchanges) == 1
        await agent.results("written")
        result = sent(upstream)[-1]
        assert result["content"].startswith("<system-reminder ")
        assert result["content"].endswith("</system-reminder>\n\nwritten")
        second = sent(upstream)
        await agent.ask("more")
        assert sent(upstream)[: len(second)] == second
        assert agent.messages[2]["content"] == "written"
        (hit,) = await agent.audit()
        assert hit["action"] == "tool_reminder"


async def test_list_content_gets_one_more_text_part(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A result that is a list of parts stays one, with the reminder as its first part."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply(edit("FORBIDDEN")), chat_reply("Done."))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        part = {"type": "text", "text": "written"}
        await agent.results([part])
        first, second = sent(upstream)[-1]["content"]
        assert first["type"] == "text"
        assert first["text"].startswith("<system-reminder ")
        assert second == part


async def test_reminder_can_stand_in_a_message_of_its_own(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """`reminderPlacement: message` leaves results alone: one message behind all of the batch."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply(edit("FORBIDDEN"), edit("ok", 1)), chat_reply("Done."))
    async with agent_at(upstream, tmp_path, reminderPlacement="message") as agent:
        await agent.ask("hi")
        await agent.results("one", "two")
        *_, one, two, note = sent(upstream)
        assert (one["content"], two["content"]) == ("one", "two")
        assert note["role"] == "user"
        assert "Quiet text." in note["content"]


@pytest.mark.case(121)
async def test_one_rule_reminds_once_on_the_first_sibling(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A rule that matches three sibling calls is told at the first only."""
    write_rules(tmp_path, foo=QUIET)
    calls = [edit("FORBIDDEN", number, f"{number}.ts") for number in range(3)]
    upstream.script(chat_reply(*calls), chat_reply("Done."))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        await agent.results("a", "b", "c")
        first, *others = sent(upstream)[-3:]
        assert "Quiet text." in first["content"]
        assert [result["content"] for result in others] == ["b", "c"]
        assert len(await agent.audit()) == 1


@pytest.mark.case(122)
async def test_two_rules_share_the_reminder_of_one_call(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Both texts stand in front of the result, a blank line between the blocks."""
    other = rule_text("Other text.", condition="BIDDEN", interruptMode="never")
    write_rules(tmp_path, foo=QUIET, bar=other)
    upstream.script(chat_reply(edit("FORBIDDEN")), chat_reply("Done."))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        await agent.results("written")
        content = sent(upstream)[-1]["content"]
        assert "</system-reminder>\n\n<system-reminder" in content
        assert "Quiet text." in content
        assert "Other text." in content


@pytest.mark.case(123)
async def test_failed_call_is_still_told(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """What a tool answers is the client's affair: the reminder is about what the model wrote."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply(edit("FORBIDDEN")), chat_reply("Done."))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        await agent.results("Error: no such file")
        assert "Quiet text." in sent(upstream)[-1]["content"]


@pytest.mark.case(125)
async def test_prose_reminder_is_merged_into_the_next_user_message(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """No extra request: the reminder stands in front of what the user says next."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply("a FORBIDDEN b"), chat_reply("Two."), chat_reply("Three."))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await agent.ask("hi"))["content"] == "a FORBIDDEN b"
        await agent.ask("go on")
        _, assistant, user = second = sent(upstream)
        assert assistant["content"] == "a FORBIDDEN b"
        assert user["content"].startswith("<system-reminder ")
        assert user["content"].endswith("\n\ngo on")
        await agent.ask("and on")
        assert sent(upstream)[: len(second)] == second


async def test_prose_reminder_follows_the_tool_results(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Where the next request ends on tool results, the note is a user message behind them."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply("a FORBIDDEN b", edit("ok")), chat_reply("Two."), chat_reply("3."))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        await agent.results("written")
        second = sent(upstream)
        assert [m["role"] for m in second] == ["user", "assistant", "tool", "user"]
        assert second[2]["content"] == "written"
        await agent.ask("more")
        assert sent(upstream)[: len(second)] == second


@pytest.mark.case(126)
async def test_rule_that_waits_to_be_told_is_not_told_twice(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Once its note stands in the next request, the rule is spent; unplaced it is armed."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("FORBIDDEN"), chat_reply("ok"))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        await agent.ask("go on")
        await agent.ask("and on")
        assert str(sent(upstream)).count("Quiet text.") == 1


@pytest.mark.case(126)
async def test_note_that_was_never_placed_leaves_the_rule_armed(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A client that drops the message gives the note no place, so nothing was spent."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply("FORBIDDEN one"), chat_reply("FORBIDDEN two"), chat_reply("ok"))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        agent.messages.clear()
        await agent.ask("afresh")
        await agent.ask("go on")
        assert "Quiet text." in sent(upstream)[-1]["content"]


@pytest.mark.case(124)
async def test_broken_answer_leaves_no_reminder(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """A message that broke off after a match is not told about later."""
    write_rules(tmp_path, foo=QUIET)
    cut = chat_reply("a FORBIDDEN b", finish=None, done=False)
    upstream.script(replace(cut, terminate="abort"), chat_reply("ok"))
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages = [{"role": "user", "content": "hi"}]
        with pytest.raises(httpx.RemoteProtocolError):
            await agent.http.post(f"{agent.proxy.url}/chat/completions", json=agent.body())
        agent.messages.append({"role": "assistant", "content": "a FORBIDDEN b"})
        await agent.ask("go on")
        assert "Quiet text." not in str(sent(upstream))


@pytest.mark.case(118)
async def test_rule_path_never_shows_the_home_directory(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A rule in the user's directory is shown as `~/…`."""
    home, workspace = tmp_path / "home", tmp_path / "work"
    workspace.mkdir()
    rules = home / ".omp" / "agent" / "rules"
    rules.mkdir(parents=True)
    (rules / "foo.md").write_text(QUIET)
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("ok"))
    settings = {"userRulesDir": str(home / ".omp" / "agent")}
    async with agent_at(upstream, workspace, home=home, **settings) as agent:
        await agent.ask("hi")
        await agent.ask("go on")
        note = sent(upstream)[-1]["content"]
        assert 'path="~/.omp/agent/rules/foo.md"' in note
        assert str(home) not in note


async def test_side_request_is_only_observed(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """A title request gets existing splices, but rules act on nothing in it."""
    write_rules(tmp_path, foo=rule_text("No.", condition="FORBIDDEN"))
    upstream.script(chat_reply("FORBIDDEN title"))
    async with agent_at(upstream, tmp_path) as agent:
        agent.tools = ()
        system = "You are a title generator. You output ONLY a thread title. Nothing else."
        agent.messages = [{"role": "system", "content": system}]
        headers: dict[str, Any] = {"user-agent": "opencode/1.18.33 ai-sdk/openai-compatible"}
        agent.headers = headers
        assert (await agent.ask("Generate a title"))["content"] == "FORBIDDEN title"
        (hit,) = await agent.audit()
        assert (hit["action"], hit["agent"]) == ("observed", "opencode")


async def test_dry_run_changes_nothing(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """`dryRun` audits hits as observed and leaves every byte alone."""
    write_rules(tmp_path, foo=rule_text("No.", condition="FORBIDDEN"))
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("ok"))
    async with agent_at(upstream, tmp_path, dryRun=True) as agent:
        assert (await agent.ask("hi"))["content"] == "FORBIDDEN"
        await agent.ask("go on")
        assert [m["content"] for m in sent(upstream)] == ["hi", "FORBIDDEN", "go on"]
        (hit,) = await agent.audit()
        assert hit["action"] == "observed"
