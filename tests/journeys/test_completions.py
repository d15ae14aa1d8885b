"""Plain completions through the real server: one unbroken text, whatever rules stop on the way."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.agent import Agent, agent_at, write_rules
from tests.support.completions import text_document, text_reply, text_stream
from tests.support.grammar import Answer, answer, check_completion
from tests.support.proxy import until
from tests.support.rules import rule_text
from tests.support.upstream import Reply, ScriptedUpstream, document
from tests.support.wire import calling

pytestmark = pytest.mark.anyio

FOO = rule_text("Say it kindly.", condition="FORBIDDEN")
NOTE = re.compile(r"\n\n<system-interrupt .*?</system-interrupt>\n\n", re.DOTALL)
USAGE = {"prompt_tokens": 2, "completion_tokens": 10, "total_tokens": 12}
REFUSED = document({"error": {"message": "too long", "type": "invalid_request_error"}}, 400)


def asked(**more: Any) -> bytes:
    return json.dumps({"model": "m", "prompt": "go", "stream": True} | more, indent=1).encode()


async def post(agent: Agent, path: str = "/completions", **more: Any) -> httpx.Response:
    return await agent.http.post(f"{agent.proxy.url}{path}", content=asked(**more))


async def complete(agent: Agent, **more: Any) -> Answer:
    """Ask for a completion, and take a well-formed one."""
    got = await post(agent, **more)
    assert got.status_code == 200, got.text
    usage = "stream_options" in more
    assert check_completion(got.content, include_usage=usage) == []
    return answer(got.content)


def prompts(upstream: ScriptedUpstream) -> list[Any]:
    return [request.json["prompt"] for request in upstream.requests]


async def actions(agent: Agent) -> list[tuple[str, str]]:
    return [(hit["action"], hit["surface"]) for hit in await agent.audit()]


async def turn_of(agent: Agent) -> dict[str, Any]:
    (turn,) = await agent.audit("turns")
    return turn


# ---- interrupts


async def test_text_hit_reissues_with_the_rule(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """The prompt goes on with the partial and the rule; the client reads one completion."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(
        text_reply("All clear. ", "FORB", "IDDEN", " more"),
        text_reply("Better.", usage=USAGE, letter="b"),
    )
    async with agent_at(upstream, tmp_path) as agent:
        options = {"include_usage": True}
        got = await complete(agent, max_tokens=7, stream_options=options)
        assert (got.text, got.finish, got.usage) == ("All clear. \n\nBetter.", "stop", USAGE)
        first, second = upstream.requests
        assert first.body == asked(max_tokens=7, stream_options=options)
        before, behind = first.body.split(b'"go"')
        assert second.body.startswith(before + b'"goAll clear. FORBIDDEN\\n\\n<system-interrupt ')
        assert second.body.endswith(b'</system-interrupt>\\n\\n"' + behind)
        assert "Say it kindly." in second.json["prompt"]
        assert NOTE.split(second.json["prompt"]) == ["goAll clear. FORBIDDEN", ""]
        assert await actions(agent) == [("interrupt", "text")]
        turn = await turn_of(agent)
        assert (turn["attempts"], turn["outcome"], turn["cured"]) == (2, "completed", True)


async def test_upstream_is_cut_at_the_hit(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """What would come behind it is not waited for, nor paid for."""
    write_rules(tmp_path, foo=FOO)
    hit = text_stream("FORBIDDEN", finish=None, done=False)
    endless = Reply(text_stream("FORBIDDEN", " more"), gates={len(hit): asyncio.Event()})
    upstream.script(endless, text_reply("Better."))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await complete(agent)).text == "Better."
        await asyncio.wait_for(upstream.exchanges[0].closed.wait(), 5)


@pytest.mark.parametrize("mode", ["keep", "discard"])
async def test_context_mode_decides_about_the_partial(
    upstream: ScriptedUpstream, tmp_path: Path, mode: str
) -> None:
    """With discard the note stands behind the prompt alone."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(text_reply("A ", "FORBIDDEN"), text_reply("Better."))
    async with agent_at(upstream, tmp_path, ttsr={"contextMode": mode}) as agent:
        assert (await complete(agent)).text == "A \n\nBetter."
        kept = "A FORBIDDEN" if mode == "keep" else ""
        assert NOTE.split(prompts(upstream)[1]) == [f"go{kept}", ""]


async def test_three_cuts_in_a_row_are_one_completion(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Each attempt is told of all before it, in the bytes in which it was told of the first."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(
        *(text_reply(f"part {n} ", "FORBIDDEN", letter="abc"[n]) for n in range(3)),
        text_reply("the end.", letter="d"),
    )
    async with agent_at(upstream, tmp_path) as agent:
        assert (await complete(agent)).text == "part 0 \n\npart 1 \n\npart 2 \n\nthe end."
        sent = prompts(upstream)
        assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(sent))
        parts = ["gopart 0 FORBIDDEN", "part 1 FORBIDDEN", "part 2 FORBIDDEN", ""]
        assert NOTE.split(sent[-1]) == parts
        assert await actions(agent) == [("interrupt", "text")] * 3


async def test_rule_without_attempts_left_lets_the_text_pass(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """As on chat; but nothing can be told later, and the audit says so."""
    write_rules(tmp_path, foo=FOO)
    upstream.answer = lambda _: text_reply("so FORBIDDEN it is")
    async with agent_at(upstream, tmp_path, maxInterruptsPerRule=2) as agent:
        assert (await complete(agent)).text == "so FORBIDDEN it is"
        assert len(upstream.requests) == 3
        hits = await agent.audit()
        assert [hit["action"] for hit in hits] == ["exhausted", "interrupt", "interrupt"]
        assert hits[0]["outcome"] == "released, and nothing can be told later"
        assert (await turn_of(agent))["cured"] is False


async def test_next_request_begins_anew(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Nothing is left behind, so the same rule acts again; it was never delivered."""
    write_rules(tmp_path, foo=FOO)
    upstream.answer = lambda r: text_reply(
        "fine" if "<system-i" in r.json["prompt"] else "FORBIDDEN"
    )
    async with agent_at(upstream, tmp_path) as agent:
        for _ in range(2):
            assert (await complete(agent)).text == "fine"
        assert prompts(upstream)[0] == prompts(upstream)[2] == "go"
        assert prompts(upstream)[1] == prompts(upstream)[3]


async def test_reminder_is_only_observed(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """A rule that does not interrupt costs no request and leaves nothing."""
    quiet = rule_text("Calm.", condition="FORBIDDEN", interruptMode="never")
    write_rules(tmp_path, quiet=quiet)
    reply = text_reply("so FORB", "IDDEN", " it is")
    upstream.answer = lambda _: reply
    async with agent_at(upstream, tmp_path) as agent:
        for _ in range(2):
            assert (await post(agent)).content == reply.body
        assert [request.body for request in upstream.requests] == [asked()] * 2
        assert await actions(agent) == [("observed", "text")] * 2


async def test_prompt_in_a_list_is_continued_in_its_list(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """One string may stand in a list; it stays there."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(text_reply("FORBIDDEN"), text_reply("Better."))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await complete(agent, prompt=["go"])).text == "Better."
        ((prompt,),) = prompts(upstream)[1:]
        assert NOTE.split(prompt) == ["goFORBIDDEN", ""]


# ---- whole answers


async def test_document_is_asked_for_again(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """The client gets the clean answer, byte for byte as the upstream wrote it."""
    write_rules(tmp_path, foo=FOO)
    clean = text_document("Better.", letter="b")
    upstream.script(text_document("All clear. FORBIDDEN more"), clean)
    async with agent_at(upstream, tmp_path) as agent:
        got = await post(agent, stream=False)
        assert got.content == clean.body
        assert NOTE.split(prompts(upstream)[1]) == ["goAll clear. FORBIDDEN", ""]
        assert await actions(agent) == [("interrupt", "text")]


@pytest.mark.parametrize(
    "more",
    [{"guided_regex": "a+"}, {"stop": ["\n\n"]}, {"response_format": {"type": "json_object"}}],
)
async def test_one_document_is_shown_whole(
    upstream: ScriptedUpstream, tmp_path: Path, more: dict[str, Any]
) -> None:
    """What must not be continued is held until it is clean; the note asks for all of it."""
    write_rules(tmp_path, foo=FOO)
    clean = text_stream("the whole ", "answer", letter="b")
    upstream.script(text_reply("All clear. ", "FORBIDDEN"), Reply(clean))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await complete(agent, **more)).text == "the whole answer"
        assert "from its beginning" in prompts(upstream)[1]


async def test_edit_in_the_text_is_a_call_here_too(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """A prompt that teaches a format of edits is read for them, and the answer is shown whole."""
    write_rules(tmp_path, foo=rule_text("Kindly.", condition="FORBIDDEN", scope="tool:edit(*.py)"))
    taught = "Act as an expert software developer. Use *SEARCH/REPLACE blocks*.\n"
    block = "a.py\n```\n<<<<<<< SEARCH\nold\n=======\n%s\n>>>>>>> REPLACE\n```\n"
    bad, good = block % "FORBIDDEN", block % "kind"
    upstream.script(text_reply("I edit FORBIDDEN.\n", bad), text_reply("I edit.\n", good))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await complete(agent, prompt=taught)).text == f"I edit.\n{good}"
        assert "`a.py`" in prompts(upstream)[1]
        assert await actions(agent) == [("interrupt", "tool")]


async def test_stream_may_go_on_in_a_document(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """An upstream that streams once and not the next time is read all the same."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(text_reply("A ", "FORBIDDEN"), text_document("Better.", letter="b"))
    async with agent_at(upstream, tmp_path) as agent:
        got = await complete(agent)
        assert (got.text, got.finish) == ("A \n\nBetter.", "stop")


# ---- what only observes, and what is not read


@pytest.mark.parametrize(
    "more",
    [
        {"n": 2},
        {"best_of": 2},
        {"echo": True},
        {"logprobs": 1},
        {"prompt": ["go", "on"]},
        {"prompt": [1, 2, 3]},
    ],
    ids=str,
)
async def test_what_cannot_be_continued_is_observed(
    upstream: ScriptedUpstream, tmp_path: Path, more: dict[str, Any]
) -> None:
    """The hit is recorded; request and answer are the same bytes, and nothing is asked again."""
    write_rules(tmp_path, foo=FOO)
    reply = text_reply("so FORB", "IDDEN", " it is")
    upstream.script(reply)
    async with agent_at(upstream, tmp_path) as agent:
        assert (await post(agent, **more)).content == reply.body
        assert [request.body for request in upstream.requests] == [asked(**more)]
        assert await actions(agent) == [("observed", "text")]


async def test_each_of_several_choices_is_observed(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """In a whole answer too."""
    write_rules(tmp_path, foo=FOO)
    choices = [{"index": n, "text": text} for n, text in enumerate(("fine", "FORBIDDEN"))]
    upstream.script(document({"choices": choices}))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await post(agent, stream=False, n=2)).json() == {"choices": choices}
        assert await actions(agent) == [("observed", "text")]


async def test_dry_run_changes_nothing(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """It tells what rules would have stopped."""
    write_rules(tmp_path, foo=FOO)
    reply = text_reply("so FORBIDDEN it is")
    upstream.script(reply)
    async with agent_at(upstream, tmp_path, dryRun=True) as agent:
        assert (await post(agent)).content == reply.body
        assert await actions(agent) == [("observed", "text")]


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/completions", {"suffix": "tail"}),
        ("/completions", {"prompt": "<fim_prefix>a<fim_suffix>b<fim_middle>"}),
        ("/fim/completions", {}),
    ],
)
async def test_filling_a_gap_is_no_matter_for_rules(
    upstream: ScriptedUpstream, tmp_path: Path, path: str, more: dict[str, str]
) -> None:
    """An editor's completions pass through unread."""
    write_rules(tmp_path, foo=FOO)
    reply = text_reply("FORBIDDEN")
    upstream.script(reply)
    async with agent_at(upstream, tmp_path) as agent:
        assert (await post(agent, path, **more)).content == reply.body
        assert await agent.audit() == []


async def test_layers_stay_away(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """A prompt has no system message into which rules could be written."""
    write_rules(
        tmp_path,
        always="---\nalwaysApply: true\n---\nBe kind.\n",
        book="---\ndescription: Manners.\n---\nBe kinder.\n",
    )
    upstream.script(text_reply("fine"))
    async with agent_at(upstream, tmp_path) as agent:
        await complete(agent)
        assert upstream.requests[0].body == asked()


# ---- what fails


async def test_refused_reissue_goes_out_without_the_partial(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """An upstream that refuses the longer prompt gets the note alone."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(text_reply("A ", "FORBIDDEN"), REFUSED, text_reply("Better."))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await complete(agent)).text == "A \n\nBetter."
        kept, alone = prompts(upstream)[1:]
        assert NOTE.split(kept) == ["goA FORBIDDEN", ""]
        assert alone == kept.replace("A FORBIDDEN", "")


async def test_twice_refused_reissue_goes_out_as_the_client_sent_it(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Nobody's request is ever stuck on what we add."""
    write_rules(tmp_path, foo=FOO)
    upstream.script(text_reply("A ", "FORBIDDEN"), REFUSED, REFUSED, text_reply("Better."))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await complete(agent)).text == "A \n\nBetter."
        assert upstream.requests[3].body == asked()


async def test_reissue_that_cannot_be_had_ends_in_an_error_event(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """In the stream's own format, without an end mark."""
    write_rules(tmp_path, foo=FOO)
    over_quota = document({"error": {"message": "over quota"}}, 403)
    upstream.script(text_reply("A ", "FORBIDDEN"), over_quota)
    async with agent_at(upstream, tmp_path) as agent:
        got = answer((await post(agent)).content)
        assert (got.text, got.done, got.finish) == ("A ", False, None)
        (error,) = got.errors
        assert (error["type"], error["code"]) == ("ttsr_error", "reissue_failed")
        assert "over quota" in error["message"]


async def test_refused_document_is_passed_on(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Where nothing was shown yet the upstream's own answer counts."""
    write_rules(tmp_path, foo=FOO)
    over_quota = document({"error": {"message": "over quota"}}, 403)
    upstream.script(text_document("FORBIDDEN"), over_quota)
    async with agent_at(upstream, tmp_path) as agent:
        got = await post(agent, stream=False)
        assert (got.status_code, got.content) == (403, over_quota.body)


@pytest.mark.parametrize("attempt", [0, 1])
async def test_broken_upstream_is_never_made_whole(
    upstream: ScriptedUpstream, tmp_path: Path, attempt: int
) -> None:
    """What is clean is shown, and the break is passed on in kind."""
    write_rules(tmp_path, foo=FOO)
    broken = Reply(text_stream("half FORB", finish=None, done=False), terminate="abort")
    upstream.script(*[text_reply("A ", "FORBIDDEN")] * attempt, broken)
    async with agent_at(upstream, tmp_path) as agent:
        async with calling(agent.proxy.port) as caller:
            await caller.send("POST", "/v1/completions", body=asked())
            whole = await caller.answer()
        assert whole.ending == "broken"
        got = whole.body
        assert answer(got).text == ("A \n\n" * attempt) + "half FORB"
        assert b"[DONE]" not in got
        assert check_completion(got, include_usage=False, complete=False) == []


async def test_client_that_leaves_between_attempts_gets_no_retry(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The waiting request is cancelled at once, and nothing is stored."""
    write_rules(tmp_path, foo=FOO)
    never = Reply(text_stream("never"), gates={-1: asyncio.Event()})
    upstream.script(text_reply("A ", "FORBIDDEN"), never)
    async with agent_at(upstream, tmp_path) as agent:
        url = f"{agent.proxy.url}/completions"
        async with agent.http.stream("POST", url, content=asked()) as stream:
            assert stream.status_code == 200
            second = await upstream.exchange(1)
        await asyncio.wait_for(second.closed.wait(), 5)

        async def recorded() -> bool:
            return bool(await agent.audit("turns"))

        await until(recorded)
        turn = await turn_of(agent)
        assert turn["outcome"].startswith("client left")
        assert len(upstream.requests) == 2


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_more_than_may_be_held_is_for_the_fail_mode(
    upstream: ScriptedUpstream, tmp_path: Path, mode: str
) -> None:
    """Open: rules off, everything goes out; closed: an error event in the stream's format."""
    write_rules(tmp_path, foo=FOO)
    reply = text_reply(*["x" * 200] * 20, "FORBIDDEN")
    upstream.script(reply)
    limits = {"heldBytes": 2048}
    async with agent_at(upstream, tmp_path, release="whole", limits=limits, failMode=mode) as agent:
        got = (await post(agent)).content
        if mode == "open":
            assert got == reply.body
        else:
            (error,) = answer(got).errors
            assert error["type"] == "ttsr_error"
            assert b"FORBIDDEN" not in got


async def test_stream_that_is_none_passes(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """What no reader understands goes out as it came."""
    write_rules(tmp_path, foo=FOO)
    odd = b'data: {"choices":3}\n\ndata: nothing\n\ndata: [1]\n\ndata: [DONE]\n\n'
    upstream.script(replace(text_reply(""), body=odd, splits=()))
    async with agent_at(upstream, tmp_path) as agent:
        assert (await post(agent)).content == odd
