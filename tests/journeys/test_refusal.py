"""Refusals and exhaustion through the real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.agent import agent_at, arguments, sent, write_rules
from tests.support.chat import Tool, chat_reply, completion
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream, document

pytestmark = pytest.mark.anyio

# Only the end of the finished argument can decide it, so it is refused and never cut.
AT_END = rule_text("Say more.", condition="end$", scope="tool:edit")
BAD = Tool("edit", arguments("a.ts", "the end"), "c1", 0)
SIBLING = Tool("bash", '{"command":"ls"}', "c2", 1)
GOOD = Tool("edit", arguments("a.ts", "the end."), "c3", 0)


async def test_refused_call_comes_back_with_every_call_answered(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The model gets its finished message and one tool message a call; the client the next one."""
    write_rules(tmp_path, foo=AT_END)
    upstream.script(chat_reply("I edit.", BAD, SIBLING), chat_reply(GOOD), chat_reply("Done."))
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("hi")
        assert message["content"] == "I edit."
        assert [call["id"] for call in message["tool_calls"]] == ["c3"]
        reissued = sent(upstream)
        _, refused, first, second = reissued
        assert [call["id"] for call in refused["tool_calls"]] == ["c1", "c2"]
        assert first["tool_call_id"] == "c1"
        assert "Say more." in first["content"]
        assert second["tool_call_id"] == "c2"
        assert "not run" in second["content"]
        await agent.results("ok")
        later = sent(upstream)
        assert later[: len(reissued)] == reissued
        assert later[len(reissued)]["content"] in (None, "")
        (hit,) = await agent.audit()
        assert (hit["action"], hit["tool"], hit["target_path"]) == ("refuse", "edit", "a.ts")


@pytest.mark.case(132)
async def test_refusal_spends_nothing(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """The same call is refused again in a later turn, though the rule is `once`."""
    write_rules(tmp_path, foo=AT_END)
    upstream.script(chat_reply(BAD), chat_reply(GOOD), chat_reply(BAD), chat_reply("Given up."))
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        message = await agent.results("ok")
        assert message["content"] == "Given up."
        assert "tool_calls" not in message


async def test_spent_rule_still_refuses_but_never_cuts(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A rule whose note stands in the conversation reads the message to its end and refuses."""
    write_rules(tmp_path, foo=rule_text("No.", condition="FORBIDDEN"))
    bad = Tool("edit", arguments("a.ts", "FORBIDDEN"), "c1")
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("Better."), chat_reply(bad),
                    chat_reply("Given up."))  # fmt: skip
    async with agent_at(upstream, tmp_path) as agent:
        await agent.ask("hi")
        assert (await agent.ask("edit"))["content"] == "Given up."
        assert upstream.exchanges[2].outcome == "complete"
        assert sent(upstream)[-1]["role"] == "tool"
        assert {hit["action"] for hit in await agent.audit()} == {"interrupt", "refuse"}


async def test_tool_refusal_once_lets_a_spent_rule_pass(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """`toolRefusal: once` gives oh-my-pi's behaviour: a spent rule refuses nothing."""
    write_rules(tmp_path, foo=rule_text("No.", condition="FORBIDDEN"))
    bad = Tool("edit", arguments("a.ts", "FORBIDDEN"), "c1")
    upstream.script(chat_reply("FORBIDDEN"), chat_reply("Better."), chat_reply(bad))
    async with agent_at(upstream, tmp_path, toolRefusal="once") as agent:
        await agent.ask("hi")
        assert (await agent.ask("edit"))["tool_calls"]


@pytest.mark.parametrize("stream", [True, False])
async def test_exhausted_call_is_withheld_and_the_client_is_told(
    upstream: ScriptedUpstream, tmp_path: Path, *, stream: bool
) -> None:
    """After the last attempt the client gets a well-formed message that says what was withheld."""
    write_rules(tmp_path, foo=AT_END)
    for _ in range(3):
        upstream.script(chat_reply("Hm. ", BAD) if stream else completion("Hm. ", BAD))
    async with agent_at(upstream, tmp_path, maxInterruptsPerRule=2) as agent:
        agent.stream = stream
        message = await agent.ask("hi")
        assert not message.get("tool_calls")
        assert "`edit` on `a.ts`" in message["content"]
        assert "`foo`" in message["content"]
        assert len(upstream.exchanges) == 3
        assert [hit["action"] for hit in await agent.audit()] == ["exhausted", "refuse", "refuse"]
        (turn,) = await agent.audit("turns")
        assert turn["cured"] is False


async def test_exhausted_message_keeps_its_place_later(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The refused attempts stand in front of it on the next request, as when it was made."""
    write_rules(tmp_path, foo=AT_END)
    upstream.script(chat_reply(BAD), chat_reply(BAD), chat_reply("ok"))
    async with agent_at(upstream, tmp_path, maxInterruptsPerRule=1) as agent:
        message = await agent.ask("hi")
        reissued = sent(upstream)
        await agent.ask("go on")
        assert sent(upstream)[: len(reissued)] == reissued
        assert sent(upstream)[len(reissued)]["content"] == message["content"]


@pytest.mark.parametrize("mode", ["deliver", "error"])
async def test_on_exhausted_chooses(upstream: ScriptedUpstream, tmp_path: Path, mode: str) -> None:
    """`deliver` lets the call through with a reminder; `error` ends the answer with an error."""
    write_rules(tmp_path, foo=AT_END)
    upstream.script(chat_reply(BAD), chat_reply("Done."))
    async with agent_at(upstream, tmp_path, maxAttempts=1, onExhausted=mode) as agent:
        if mode == "deliver":
            assert (await agent.ask("hi"))["tool_calls"]
            await agent.results("ok")
            assert sent(upstream)[-1]["content"].endswith("\n\nok")
            return
        agent.messages = [{"role": "user", "content": "hi"}]
        answer = await agent.http.post(f"{agent.proxy.url}/chat/completions", json=agent.body())
        assert "rule_exhausted" in answer.text
        assert "[DONE]" not in answer.text


async def test_whole_answers_take_the_same_path(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Interrupt and refusal are invisible in an answer that is not streamed."""
    write_rules(tmp_path, foo=AT_END, bar=rule_text("No.", condition="FORBIDDEN"))
    upstream.script(
        completion("a FORBIDDEN b"),
        completion(BAD),
        completion(GOOD),
        completion("Done."),
    )
    async with agent_at(upstream, tmp_path) as agent:
        agent.stream = False
        message = await agent.ask("hi")
        assert [call["id"] for call in message["tool_calls"]] == ["c3"]
        reissued = sent(upstream)
        assert [m["role"] for m in reissued] == ["user", "assistant", "user", "assistant", "tool"]
        assert reissued[1]["content"] == "a FORBIDDEN"
        await agent.results("ok")
        assert sent(upstream)[: len(reissued)] == reissued


async def test_several_choices_are_only_observed(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """With n > 1 nothing is interrupted; the audit shows what was seen."""
    write_rules(tmp_path, foo=rule_text("No.", condition="FORBIDDEN"))
    answer = json.loads(completion("a FORBIDDEN b").body)
    answer["choices"].append(answer["choices"][0] | {"index": 1})
    upstream.script(document(answer))
    async with agent_at(upstream, tmp_path) as agent:
        agent.stream = False
        message = await agent.ask("hi", n=2)
        assert message["content"] == "a FORBIDDEN b"
        assert {hit["action"] for hit in await agent.audit()} == {"observed"}


@pytest.mark.parametrize("stream", [True, False])
async def test_calls_that_share_an_id_are_judged_each_alone(
    upstream: ScriptedUpstream, tmp_path: Path, *, stream: bool
) -> None:
    """Some upstreams call every call `call_0`; a clean one hides no other behind it."""
    write_rules(tmp_path, foo=AT_END)
    said = chat_reply if stream else completion
    clean = Tool("edit", arguments("b.ts", "fine."), "call_0", 0)
    bad = Tool("edit", arguments("a.ts", "the end"), "call_0", 1)
    upstream.script(said(clean, bad), said(clean))
    async with agent_at(upstream, tmp_path) as agent:
        agent.stream = stream
        message = await agent.ask("hi")
        assert [call["function"]["arguments"] for call in message["tool_calls"]] == [
            clean.arguments
        ]
        _, refused, first, second = sent(upstream)
        assert len(refused["tool_calls"]) == 2
        assert "not run" in first["content"]
        assert "Say more." in second["content"]
