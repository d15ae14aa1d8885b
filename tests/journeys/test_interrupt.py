"""Interrupts through the real server: what the client sees, what the model is told, later too."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.support.agent import agent_at, arguments, sent, write_rules
from tests.support.chat import Thinking, Tool, chat, chat_reply
from tests.support.proxy import until
from tests.support.rules import rule_text
from tests.support.upstream import Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio

FOO = rule_text("Say it kindly.", condition="FORBIDDEN")


@pytest.mark.case(106)
async def test_text_hit_reissues_with_the_rule(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """The retry request holds the partial and the rule; the client sees one clean answer."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("All clear. ", "FORB", "IDDEN", " more"), chat_reply("Better."))
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert message["content"] == "All clear. \n\nBetter."
        user, partial, note = sent(upstream)
        assert user == {"role": "user", "content": "hi"}
        assert partial == {"role": "assistant", "content": "All clear. FORBIDDEN"}
        assert note["role"] == "user"
        assert note["content"].startswith("<system-interrupt ")
        assert "Say it kindly." in note["content"]
        (hit,) = await agent.audit()
        assert (hit["action"], hit["surface"], hit["rule"]) == ("interrupt", "text", "foo")
        (turn,) = await agent.audit("turns")
        assert turn["attempts"] == 2
        assert turn["cured"] is True


async def test_note_stays_in_every_later_request(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """What was injected once is injected again, at the same place, in the same bytes."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("A ", "FORBIDDEN"), *(chat_reply(f"answer {n}") for n in range(3)))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("one")
        reissued = sent(upstream)
        await agent.ask("two")
        second = sent(upstream)
        await agent.ask("three")
        assert second[: len(reissued)] == reissued
        assert second[len(reissued)] == {"role": "assistant", "content": "answer 0"}
        assert sent(upstream)[: len(second)] == second


@pytest.mark.case(107)
@pytest.mark.parametrize("mode", ["keep", "discard"])
async def test_context_mode_decides_about_the_partial(
    upstream: ScriptedUpstream, tmp_path: Path, mode: str
) -> None:
    """With keep the cut partial stands in front of the note; with discard it is absent."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("A FORBIDDEN"), chat_reply("Better."), chat_reply("Third."))
    async with agent_at(upstream, tmp_path, ttsr={"contextMode": mode}) as agent:
        await agent.ask("hi")
        reissued = sent(upstream)
        roles = [message["role"] for message in reissued]
        assert roles == (["user", "assistant", "user"] if mode == "keep" else ["user"])
        assert "Say it kindly." in reissued[-1]["content"]
        await agent.ask("more")
        assert sent(upstream)[: len(reissued)] == reissued


@pytest.mark.case(108)
async def test_one_interrupt_tells_both_rules(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """A quiet and a loud rule matched in one delta: one note with both texts."""
    write_rules(
        tmp_path,
        loud=rule_text("Loud text.", condition="foobar"),
        quiet=rule_text("Quiet text.", condition="foo", interruptMode="never"),
    )
    upstream.script(chat_reply("a foobar"), chat_reply("Better."))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        note = sent(upstream)[-1]["content"]
        assert "Loud text." in note
        assert "Quiet text." in note
        assert len(upstream.exchanges) == 2


@pytest.mark.case(113)
async def test_what_one_tenant_was_told_is_for_no_other(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Of the same conversation, too: it is another's, without the note, and its rule is armed."""
    write_rules(tmp_path, foo=FOO)
    async with agent_at(upstream, tmp_path, tenant_header="X-Tenant") as agent:
        agent.headers = {"x-tenant": "one"}
        upstream.script(chat_reply("A ", "FORBIDDEN"), chat_reply("better"))
        await agent.ask("first")
        told = list(agent.messages)
        for tenant, notes in (("one", 1), ("two", 0), (None, 0)):
            agent.messages = list(told)
            agent.headers = {"x-tenant": tenant} if tenant else {}
            upstream.script(chat_reply("fine"))
            await agent.ask("second")
            assert str(sent(upstream)).count("Say it kindly.") == notes, tenant
        agent.messages = list(told)
        upstream.script(chat_reply("B ", "FORBIDDEN"), chat_reply("better again"))
        assert (await agent.ask("third"))["content"] == "B \n\nbetter again"


async def test_once_lets_a_second_violating_turn_pass(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Three requests in total: the first, its retry, and the next turn's, which is untouched."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("Better."), chat_reply("FORBIDDEN again"))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        message = await agent.ask("more")
        assert message["content"] == "FORBIDDEN again"
        assert len(upstream.exchanges) == 3


@pytest.mark.case(127)
async def test_after_gap_allows_again_after_the_gap(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """With a gap of two a rule is blocked in the next turn and acts in the one after it."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(
        chat_reply("FORBIDDEN"),
        chat_reply("Better."),
        chat_reply("FORBIDDEN two"),
        chat_reply("FORBIDDEN three"),
        chat_reply("Better again."),
    )
    settings = {"repeatMode": "after-gap", "repeatGap": 2}
    async with agent_at(upstream, tmp_path, ttsr=settings) as agent:
        await agent.ask("one")
        assert (await agent.ask("two"))["content"] == "FORBIDDEN two"
        assert (await agent.ask("three"))["content"] == "Better again."


@pytest.mark.case(128)
@pytest.mark.case(131)
async def test_restart_changes_nothing(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """A new process finds the splices of the old one: same model view, rule still spent."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("A FORBIDDEN"), chat_reply("Better."), chat_reply("FORBIDDEN"))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        messages, reissued = agent.messages, sent(upstream)
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages = messages
        assert (await agent.ask("more"))["content"] == "FORBIDDEN"
        assert sent(upstream)[: len(reissued)] == reissued


@pytest.mark.case(129)
async def test_rewind_before_the_injection_allows_again(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A note that no longer stands in the conversation spends nothing."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("Better."), chat_reply("FORBIDDEN"),
                    chat_reply("Better still."))  # fmt: skip
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        del agent.messages[1:]
        assert (await agent.go())["content"] == "Better still."


@pytest.mark.case(130)
async def test_edited_rule_counts_as_a_new_one(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """What an edited rule said before was another text, so it may be told again."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("Better."), chat_reply("FORBIDDEN"),
                    chat_reply("Better still."))  # fmt: skip
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
    write_rules(tmp_path, foo=rule_text("Another text.", condition="FORBIDDEN"))
    async with agent_at(upstream, tmp_path) as again:
        again.messages = agent.messages
        assert (await again.ask("more"))["content"] == "Better still."


@pytest.mark.case(110)
async def test_tool_hit_drops_the_calls_and_never_shows_them(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Of three sibling calls the second violates: none reaches the client, one note names it."""
    write_rules(tmp_path, foo=rule_text("No.", condition="FORBIDDEN", scope="tool:edit(*.ts)"))
    bad = [
        Tool("edit", arguments("a.ts", "fine"), "c1", 0),
        Tool("edit", arguments("b.ts", "FORBIDDEN"), "c2", 1),
        Tool("edit", arguments("c.ts", "fine"), "c3", 2),
    ]
    good = Tool("edit", arguments("b.ts", "fine"), "c4")
    endless = replace(chat_reply("I edit.", *bad), terminate="stall")
    upstream.script(endless, chat_reply(good))
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert [call["id"] for call in message["tool_calls"]] == ["c4"]
        assert upstream.exchanges[0].outcome == "client closed"
        _, partial, note = sent(upstream)
        assert partial == {"role": "assistant", "content": "I edit."}
        assert "`b.ts`" in note["content"]
        assert "`a.ts`" not in note["content"]


@pytest.mark.case(114)
async def test_client_sees_no_error_and_no_call_twice(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The interrupted half never shows: one message, one finish reason, each call once."""
    write_rules(tmp_path, foo=rule_text("No.", condition="FORBIDDEN", scope="tool"))
    upstream.script(
        chat_reply(Tool("edit", arguments("a.ts", "FORBIDDEN"), "c1")),
        chat_reply(Tool("edit", arguments("a.ts", "fine"), "c1")),
    )
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert len(message["tool_calls"]) == 1


async def test_second_interrupt_of_a_turn_keeps_both_partials(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Attempt by attempt: partial, note, partial, note; and so on every later request."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("one ", "FORBIDDEN"), chat_reply("two ", "FORBIDDEN"),
                    chat_reply("three"), chat_reply("four"))  # fmt: skip
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert message["content"] == "one \n\ntwo \n\nthree"
        reissued = sent(upstream)
        assert [m["role"] for m in reissued] == ["user", *["assistant", "user"] * 2]
        await agent.ask("more")
        assert sent(upstream)[: len(reissued)] == reissued
        assert sent(upstream)[len(reissued)]["content"] == "three"


async def test_seam_closes_an_open_code_fence(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """The next attempt does not end up inside the code block of the cut one."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(chat_reply("```ts\n", "let a\n", "FORBIDDEN"), chat_reply("Better."))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await agent.ask("hi"))["content"] == "```ts\nlet a\n```\n\nBetter."


async def test_thinking_hit_shows_no_later_reasoning_behind_text(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Once text went out, reasoning of a later attempt is kept back but returned upstream."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(
        chat_reply(Thinking("hm"), "A ", "FORBIDDEN"),
        chat_reply(Thinking("second thoughts"), "Better."),
        chat_reply("Third."),
    )
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        await agent.ask("more")
        assert sent(upstream)[3]["content"] == "Better."
        assert "second thoughts" in str(sent(upstream)[3])


@pytest.mark.case(111)
async def test_client_that_leaves_between_attempts_gets_no_retry(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """When the client leaves while the reissued request waits, that request is cancelled."""
    write_rules(tmp_path, foo=FOO)
    gate = asyncio.Event()
    upstream.script(chat_reply("A ", "FORBIDDEN"), Reply(chat("never"), gates={-1: gate}))
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages = [{"role": "user", "content": "hi"}]
        url = f"{agent.proxy.url}/chat/completions"
        async with agent.http.stream("POST", url, json=agent.body()) as answer:
            assert answer.status_code == 200
            second = await upstream.exchange(1)
        await asyncio.wait_for(second.closed.wait(), 5)
        assert len(upstream.exchanges) == 2

        async def recorded() -> bool:
            return bool(await agent.audit("turns"))

        await until(recorded)  # the upstream is closed before the turn's row is written
        (turn,) = await agent.audit("turns")
        assert turn["outcome"].startswith("client left")


async def test_client_that_left_in_mid_turn_is_told_apart(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """It kept half a message: the abandoned text is found again by its beginning, and stripped."""
    write_rules(tmp_path, foo=FOO)
    gate = asyncio.Event()
    shown = "A beginning that is long enough to be known again by its first forty letters. "
    reply = chat("Then it goes on and on.")
    upstream.script(chat_reply(shown, "FORBIDDEN"), Reply(reply, gates={len(reply) - 20: gate}),
                    chat_reply("ok"))  # fmt: skip
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages = [{"role": "user", "content": "hi"}]
        url = f"{agent.proxy.url}/chat/completions"
        async with agent.http.stream("POST", url, json=agent.body()) as answer:
            async for piece in answer.aiter_text():
                if "goes on" in piece:
                    break
        await asyncio.wait_for(upstream.exchanges[1].closed.wait(), 5)
        while not (await agent.audit("turns")):
            pass
        half = {"role": "assistant", "content": shown + "\n\nThen it goes on"}
        agent.messages += [half]
        await agent.ask("go on")
        user, partial, note, kept, last = sent(upstream)
        assert partial["content"] == shown + "FORBIDDEN"
        assert "Say it kindly." in note["content"]
        assert kept["content"].strip() == "Then it goes on"
        assert last["content"] == "go on"
        assert user["content"] == "hi"


async def test_usage_of_the_last_attempt_goes_to_the_client(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The client gets the last attempt's usage if it asked; the audit gets each attempt's."""
    write_rules(tmp_path, foo=FOO)
    one, two = {"prompt_tokens": 1, "total_tokens": 1}, {"prompt_tokens": 2, "total_tokens": 2}
    upstream.script(chat_reply("A ", "FORBIDDEN", usage=one), chat_reply("Better.", usage=two))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi", stream_options={"include_usage": True})
        (turn,) = await agent.audit("turns")
        assert turn["usage"] == [None, two]


async def test_reissue_that_cannot_be_had_ends_in_an_error_event(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A reissued request that fails for good: an error event, no end mark, nothing made up."""
    write_rules(tmp_path, foo=FOO)
    failing = Reply(b'{"error":{"message":"over quota"}}', 403)
    upstream.script(chat_reply("A ", "FORBIDDEN"), failing)
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages = [{"role": "user", "content": "hi"}]
        answer = await agent.http.post(f"{agent.proxy.url}/chat/completions", json=agent.body())
        assert "[DONE]" not in answer.text
        last = httpx.Response(200, content=answer.text.strip().split("data: ")[-1]).json()
        assert last["error"]["type"] == "ttsr_error"
        assert last["error"]["code"] == "reissue_failed"
        assert "over quota" in last["error"]["message"]
