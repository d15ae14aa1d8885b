"""What is wrong is said, by whom and what to do; and nothing is lost by it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import Agent, agent_at, assembled, sent, write_rules
from tests.support.chat import chat, chat_reply, completion, event
from tests.support.rules import rule_text
from tests.support.upstream import JSON_HEADERS, Reply, ScriptedUpstream, document
from tests.support.wire import Answer, call, calling

pytestmark = pytest.mark.anyio

CHAT = "/v1/chat/completions"
FOO = rule_text("Say it kindly.", condition="FORBIDDEN")
INTERRUPTED = (chat_reply("A ", "FORBIDDEN"), chat_reply("B"))
HTML = b"<html><body>502 Bad Gateway</body></html>"


@asynccontextmanager
async def agent_over(
    upstream: ScriptedUpstream, workspace: Path, **settings: Any
) -> AsyncIterator[Agent]:
    write_rules(workspace, foo=FOO)
    async with agent_at(upstream, workspace, **settings) as agent:
        agent.messages = [{"role": "user", "content": "hi"}]
        yield agent


def error_of(body: bytes) -> dict[str, Any]:
    """The error object, which has the four keys of OpenAI's, with a sentence."""
    error = json.loads(body)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str)
    assert error["message"]
    return dict(error)


def last_event(stream: str) -> dict[str, Any]:
    return dict(json.loads(stream.strip().rpartition("data: ")[2]))


# ---- requests that cannot be read


@pytest.mark.parametrize(
    ("body", "param", "said"),
    [
        (b"", None, "not JSON"),
        (b"{", None, "not JSON"),
        (b"messages=hi", None, "not JSON"),
        (b"\xff\xfe{}", None, "not JSON"),
        (b"[" * 100_000, None, "not JSON"),
        (b"[]", None, "not an object"),
        (b'"hi"', None, "not an object"),
        (b"null", None, "not an object"),
        (b"{}", "messages", "missing"),
        (b'{"messages": null}', "messages", "not an array"),
        (b'{"messages": "hi"}', "messages", "not an array"),
        (b'{"messages": {}}', "messages", "not an array"),
        (b'{"messages": []}', "messages", "empty"),
        (b'{"messages": ["hi"]}', "messages[0]", "not an object"),
        (b'{"messages": [{"role": "user"}, null]}', "messages[1]", "not an object"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_request_that_cannot_be_read_is_a_400(
    upstream: ScriptedUpstream, tmp_path: Path, body: bytes, param: str | None, said: str
) -> None:
    """It names the field, and nothing is asked of the upstream."""
    async with agent_over(upstream, tmp_path) as agent:
        answer = await call(agent.proxy.port, "POST", CHAT, body=body)
    error = error_of(answer.body)
    assert (answer.status, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert said in error["message"]
    assert not upstream.exchanges


@pytest.mark.parametrize(
    "more",
    [
        {"model": 5}, {"stream": "yes"}, {"n": "two"}, {"tools": "all"}, {"tools": [None, 3]},
        {"tool_choice": [1]}, {"response_format": "json"}, {"stream_options": 1}, {"metadata": []},
        {"messages": [{}]}, {"messages": [{"role": 1, "content": 2, "tool_calls": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": 3}, None, "x"]}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": 7}}]}]},
    ],
    ids=str,
)  # fmt: skip
async def test_odd_types_are_for_the_upstream_to_judge(
    upstream: ScriptedUpstream, tmp_path: Path, more: dict[str, Any]
) -> None:
    """They go out as they came, and its judgement is passed on."""
    upstream.script(document({"error": {"message": "no such type"}}, 400))
    async with agent_over(upstream, tmp_path) as agent:
        body = json.dumps(agent.body(tools=[]) | more).encode()
        answer = await call(agent.proxy.port, "POST", CHAT, body=body)
    assert answer.status == 400
    assert json.loads(answer.body) == {"error": {"message": "no such type"}}
    assert [request.body for request in upstream.requests] == [body]


@pytest.mark.parametrize("chunked", [False, True])
async def test_body_beyond_the_limit_is_a_413(
    upstream: ScriptedUpstream, tmp_path: Path, *, chunked: bool
) -> None:
    """Announced or not; it names the limit."""
    body = json.dumps({"messages": [{"role": "user", "content": "x" * 2000}]}).encode()
    async with agent_over(upstream, tmp_path, limits={"body": 1000}) as agent:
        if not chunked:
            answer = await call(agent.proxy.port, "POST", CHAT, body=body)
        else:
            async with calling(agent.proxy.port) as caller:
                await caller.send("POST", CHAT, [("Transfer-Encoding", "chunked")])
                await caller.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
                answer = await caller.answer()
    error = error_of(answer.body)
    assert (answer.status, error["code"]) == (413, "request_too_large")
    assert "limits.body" in error["message"]
    assert not upstream.exchanges


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ([("Origin", "https://evil.example")], 403, "listen.allowedOrigins"),
        ([("Origin", "null")], 403, "listen.allowedOrigins"),
        ([("Sec-Fetch-Site", "cross-site")], 403, "Sec-Fetch-Site"),
        ([("Host", "evil.example")], 403, "listen.allowedHosts"),
        ([("Connection", "Upgrade"), ("Upgrade", "websocket")], 426, "WebSocket"),
        ([("Content-Encoding", "gzip")], 400, "cannot be decoded"),
    ],
    ids=str,
)  # fmt: skip
async def test_request_that_may_not_pass_is_told_why(
    upstream: ScriptedUpstream,
    tmp_path: Path,
    fields: list[tuple[str, str]],
    status: int,
    said: str,
) -> None:
    """The header that is wrong, and the setting that would allow it; the upstream sees nothing."""
    async with agent_over(upstream, tmp_path) as agent:
        body = json.dumps(agent.body()).encode()
        host = dict(fields).get("Host", "127.0.0.1")
        fields = [pair for pair in fields if pair[0] != "Host"]
        answer = await call(agent.proxy.port, "POST", CHAT, fields, body, host=host)
    assert answer.status == status
    assert said in error_of(answer.body)["message"]
    assert not upstream.exchanges


# ---- rule files


async def test_broken_rule_files_stop_nothing(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Each is reported with its path and what to do, and the others work."""
    folder = tmp_path / ".omp" / "rules"
    write_rules(tmp_path, pattern=rule_text("No.", condition="(unclosed"),
                empty=rule_text("No.", condition="x*"))  # fmt: skip
    (folder / "yaml.md").write_text("---\ncondition: [\n---\nNo.\n", encoding="utf-8")
    (folder / "bytes.md").write_bytes(b"---\ncondition: x\n---\n\xff\xfe\x00")
    (folder / "folder.md").mkdir()
    (folder / "dangling.md").symlink_to(tmp_path / "nowhere")
    upstream.script(*INTERRUPTED)
    async with agent_over(upstream, tmp_path) as agent:
        agent.messages = []
        assert (await agent.ask("hi"))["content"] == "A \n\nB"
        answer = await agent.http.get(f"{agent.proxy.origin}/audit")
    problems = answer.json()["problems"]
    broken = {problem["file"] for problem in problems}
    names = ("pattern", "empty", "yaml", "bytes", "dangling")
    assert broken == {f".omp/rules/{name}.md" for name in names}
    assert all("Next step: " in problem["message"] for problem in problems)


# ---- the upstream fails


async def test_upstream_that_is_not_there_is_a_502(tmp_path: Path) -> None:
    """It says what to check."""
    nowhere = ScriptedUpstream()
    nowhere.port = 1
    async with agent_over(nowhere, tmp_path) as agent:
        answer = await agent.post()
        (turn,) = await agent.audit("turns")
    error = error_of(answer.content)
    assert (answer.status_code, error["code"]) == (502, "upstream_unreachable")
    assert "upstream.url" in error["message"]
    assert turn["outcome"] == "upstream_unreachable"


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422, 429, 500, 503, 529])
async def test_error_before_the_stream_is_passed_on(
    upstream: ScriptedUpstream, tmp_path: Path, status: int
) -> None:
    """Status, fields and body as they came, and only one request was made."""
    fields = (("content-type", "text/html"), ("retry-after", "7"), ("x-request-id", "r"))
    upstream.script(Reply(HTML, status, fields, framing="content-length"))
    async with agent_over(upstream, tmp_path) as agent:
        answer = await agent.post()
        (turn,) = await agent.audit("turns")
    assert (answer.status_code, answer.content) == (status, HTML)
    assert {name: answer.headers[name] for name, _ in fields} == dict(fields)
    assert turn["outcome"] == f"upstream status {status}"
    assert len(upstream.exchanges) == 1


@pytest.mark.parametrize("stream", [True, False])
async def test_page_in_place_of_an_answer_is_passed_on(
    upstream: ScriptedUpstream, tmp_path: Path, *, stream: bool
) -> None:
    """HTML with status 200, as gateways send it."""
    upstream.script(Reply(HTML, headers=(("content-type", "text/html"),)))
    async with agent_over(upstream, tmp_path) as agent:
        answer = await agent.post(stream=stream)
    assert (answer.status_code, answer.content) == (200, HTML)
    assert answer.headers["content-type"] == "text/html"


@pytest.mark.parametrize("done", [True, False])
async def test_error_in_the_stream_is_passed_on(
    upstream: ScriptedUpstream, tmp_path: Path, *, done: bool
) -> None:
    """Behind what was said before it, with what was held."""
    said = chat("one ", "two FORBID", finish=None, done=False)
    failure = event({"error": {"message": "overloaded", "code": 529}})
    upstream.script(Reply(said + failure + (b"data: [DONE]\n\n" if done else b"")))
    async with agent_over(upstream, tmp_path) as agent:
        answer = await agent.post()
        (turn,) = await agent.audit("turns")
    assert answer.content == upstream.exchanges[0].reply.body
    assert turn["outcome"].startswith("failed")


@pytest.mark.parametrize("later", [False, True])
async def test_break_in_mid_stream_is_passed_on(
    upstream: ScriptedUpstream, tmp_path: Path, *, later: bool
) -> None:
    """The client sees what was said, and a broken end; no end mark is made up."""
    broken = Reply(chat("one ", "two", finish=None, done=False), terminate="abort")
    upstream.script(*([INTERRUPTED[0]] if later else []), broken)
    async with agent_over(upstream, tmp_path) as agent:
        answer: Answer = await call(
            agent.proxy.port, "POST", CHAT, body=json.dumps(agent.body()).encode()
        )
        (turn,) = await agent.audit("turns")
    assert answer.ending == "broken"
    assert b"[DONE]" not in answer.body
    assert b"two" in answer.body
    assert turn["outcome"].startswith("upstream_broken")


# ---- reissued requests


@pytest.mark.parametrize("failure", [429, 500, 502, 503, 504, 529])
async def test_reissue_that_fails_for_a_while_is_tried_again(
    upstream: ScriptedUpstream, tmp_path: Path, failure: int
) -> None:
    """The client notices nothing."""
    bad = document({"error": {"message": "busy"}}, failure)
    upstream.script(INTERRUPTED[0], bad, INTERRUPTED[1])
    async with agent_over(upstream, tmp_path) as agent:
        assert (await agent.go())["content"] == "A \n\nB"
        assert sent(upstream, 1) == sent(upstream, 2)
        (turn,) = await agent.audit("turns")
    assert (turn["outcome"], turn["attempts"]) == ("completed", 2)


@pytest.mark.parametrize("stream", [True, False])
async def test_reissue_that_fails_for_good_is_said(
    upstream: ScriptedUpstream, tmp_path: Path, *, stream: bool
) -> None:
    """In an error event, or as the upstream's own answer where nothing was sent yet."""
    first = chat_reply("A ", "FORBIDDEN") if stream else completion("A FORBIDDEN")
    busy = document({"error": {"message": "busy"}}, 503)
    fast = Reply(busy.body, 503, (("retry-after", "0"),), framing="content-length")
    upstream.script(first, fast, fast, fast)
    async with agent_over(upstream, tmp_path) as agent:
        answer = await agent.post(stream=stream)
    assert len(upstream.exchanges) == 4
    if stream:
        error = last_event(answer.text)["error"]
        assert (error["type"], error["code"]) == ("ttsr_error", "reissue_failed")
        assert "503" in error["message"]
        assert "[DONE]" not in answer.text
    else:
        assert (answer.status_code, answer.content) == (503, busy.body)


# ---- requests that carry something of ours and are refused


REFUSAL = document({"error": {"message": "roles must alternate"}}, 400)


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_refused_reissue_goes_out_in_another_form(
    upstream: ScriptedUpstream, tmp_path: Path, status: int
) -> None:
    """The other placement worked: it is what is sent from then on, without another refusal."""
    refusal = document({"error": {"message": "no"}}, status)
    upstream.script(INTERRUPTED[0], refusal, INTERRUPTED[1], chat_reply("C"))
    async with agent_over(upstream, tmp_path) as agent:
        assert (await agent.go())["content"] == "A \n\nB"
        flipped = sent(upstream)
        assert flipped != sent(upstream, 1)
        assert "Say it kindly." in str(flipped)
        assert (await agent.ask("more"))["content"] == "C"
        assert sent(upstream)[: len(flipped)] == flipped
    assert len(upstream.exchanges) == 4


async def test_reissue_that_is_taken_only_as_the_client_sent_it(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Then nothing of ours stands in later requests either, and none of them is refused."""
    upstream.script(INTERRUPTED[0], REFUSAL, REFUSAL, INTERRUPTED[1], chat_reply("C"))
    async with agent_over(upstream, tmp_path) as agent:
        message = await agent.go()
        assert upstream.requests[3].body == upstream.requests[0].body
        assert (await agent.ask("more"))["content"] == "C"
        assert "Say it kindly." not in str(sent(upstream))
        assert sent(upstream)[1] == message
    assert len(upstream.exchanges) == 5


@pytest.mark.parametrize(
    "instead",
    [
        Reply(b"", 204),
        Reply(b"", 200, JSON_HEADERS, framing="content-length"),
        Reply(b"<html>Sign in</html>", 200, (("content-type", "text/html"),)),
        document({}),
        document([]),
    ],
    ids=["no content", "nothing", "page", "no choices", "no object"],
)
async def test_reissue_that_brings_no_answer_is_said(
    upstream: ScriptedUpstream, tmp_path: Path, instead: Reply
) -> None:
    """A success without an answer is no end of the answer that was stopped."""
    upstream.script(chat_reply("A ", "FORBIDDEN"), instead, chat_reply("C"))
    async with agent_over(upstream, tmp_path) as agent:
        answer = await agent.post()
        assert last_event(answer.text)["error"]["code"] == "reissue_failed"
        assert "[DONE]" not in answer.text
        assert (await agent.go())["content"] == "C"


async def test_reissue_that_is_refused_in_every_form_is_said(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """An error event; the next request is not poisoned by what was tried."""
    upstream.script(INTERRUPTED[0], REFUSAL, REFUSAL, REFUSAL, chat_reply("C"))
    async with agent_over(upstream, tmp_path) as agent:
        answer = await agent.post()
        assert last_event(answer.text)["error"]["code"] == "reissue_failed"
        assert "roles must alternate" in answer.text
        assert (await agent.go())["content"] == "C"
    assert len(upstream.exchanges) == 5


@pytest.mark.parametrize("bare", [False, True])
async def test_refused_conversation_goes_on_and_stays_unrefused(
    upstream: ScriptedUpstream, tmp_path: Path, *, bare: bool
) -> None:
    """An upstream that no longer takes a stored splice: what works is remembered in it."""
    upstream.script(*INTERRUPTED, *[REFUSAL] * (2 if bare else 1), chat_reply("C"), chat_reply("D"))
    async with agent_over(upstream, tmp_path) as agent:
        await agent.go()
        await agent.ask("more")
        worked = sent(upstream)
        assert ("Say it kindly." in str(worked)) is not bare
        assert (await agent.ask("again"))["content"] == "D"
        assert sent(upstream)[: len(worked)] == worked
    assert len(upstream.exchanges) == (6 if bare else 5)


async def test_request_that_is_refused_as_the_client_sent_it_costs_no_splice(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """That refusal is the client's to see; the splice is there again on the next request."""
    upstream.script(*INTERRUPTED, REFUSAL, REFUSAL, REFUSAL, chat_reply("C"))
    async with agent_over(upstream, tmp_path) as agent:
        await agent.go()
        told = sent(upstream)
        agent.messages.append({"role": "user", "content": "more"})
        answer = await agent.post()
        assert (answer.status_code, answer.content) == (400, REFUSAL.body)
        await agent.go()
        assert sent(upstream)[: len(told)] == told
    assert len(upstream.exchanges) == 6


# ---- more than can be held


LARGE = "x" * 5000


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_event_beyond_the_limit(
    upstream: ScriptedUpstream, tmp_path: Path, mode: str
) -> None:
    """Passed on unread with all that follows, or an error event; the limit is named."""
    upstream.script(chat_reply("one FORBID", LARGE, "FORBIDDEN"))
    async with agent_over(upstream, tmp_path, limits={"event": 2000}, failMode=mode) as agent:
        answer = await agent.post()
        (turn,) = await agent.audit("turns")
    assert "limits.event" in turn["outcome"]
    if mode == "open":
        assert answer.content == upstream.exchanges[0].reply.body
    else:
        error = last_event(answer.text)["error"]
        assert error["code"] == "rules_unavailable"
        assert "limits.event" in error["message"]
        assert LARGE not in answer.text


async def test_event_beyond_the_limit_in_a_later_attempt(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """It cannot be written anew unread: an error event says so, and nothing is dropped silently."""
    upstream.script(INTERRUPTED[0], chat_reply("one ", LARGE, "two"))
    async with agent_over(upstream, tmp_path, limits={"event": 2000}) as agent:
        answer = await agent.post()
    assert "one " in answer.text
    assert "limits.event" in last_event(answer.text)["error"]["message"]
    assert "[DONE]" not in answer.text


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_more_held_than_the_limit(
    upstream: ScriptedUpstream, tmp_path: Path, mode: str
) -> None:
    """Everything goes out and the turn has no rules any more, or an error event; audited."""
    upstream.script(chat_reply(*["FORBID "] * 60, "FORBIDDEN"))
    settings: dict[str, Any] = {"limits": {"heldBytes": 3000}, "release": "whole"}
    async with agent_over(upstream, tmp_path, failMode=mode, **settings) as agent:
        answer = await agent.post()
        (turn,) = await agent.audit("turns")
    assert "limits.heldBytes" in turn["outcome"]
    if mode == "open":
        assert answer.content == upstream.exchanges[0].reply.body
    else:
        assert "limits.heldBytes" in last_event(answer.text)["error"]["message"]
        assert "FORBID " not in answer.text


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_document_larger_than_the_limit(
    upstream: ScriptedUpstream, tmp_path: Path, mode: str
) -> None:
    """The same for an answer that is not streamed."""
    reply = completion("FORBIDDEN" + LARGE)
    upstream.script(reply)
    async with agent_over(upstream, tmp_path, failMode=mode, limits={"heldBytes": 3000}) as agent:
        answer = await agent.post(stream=False)
        (turn,) = await agent.audit("turns")
    assert "limits.heldBytes" in turn["outcome"]
    if mode == "open":
        assert answer.content == reply.body
        assert turn["outcome"].startswith("completed")
    else:
        assert answer.status_code == 503
        assert "limits.heldBytes" in error_of(answer.content)["message"]


async def test_interrupted_answers_are_whole(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """The stream that all of these tests vary."""
    upstream.script(*INTERRUPTED)
    async with agent_over(upstream, tmp_path) as agent:
        assert assembled((await agent.post()).content)["content"] == "A \n\nB"
