"""Plain completions through the real server: seen by rules, and passed on as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import Agent, agent_at, write_rules
from tests.support.rules import rule_text
from tests.support.upstream import SSE_HEADERS, Reply, ScriptedUpstream, document

pytestmark = pytest.mark.anyio

FOO = rule_text("Say it kindly.", condition="FORBIDDEN")


def streamed(*texts: str) -> bytes:
    chunks = (
        {"object": "text_completion", "choices": [{"index": 0, "text": t, "finish_reason": None}]}
        for t in texts
    )
    return b"".join(b"data: %s\n\n" % json.dumps(c).encode() for c in chunks) + b"data: [DONE]\n\n"


async def post(agent: Agent, path: str = "/completions", **more: Any) -> bytes:
    content = json.dumps({"model": "m", "prompt": "go", "stream": True} | more, indent=1)
    answer = await agent.http.post(f"{agent.proxy.url}{path}", content=content)
    assert answer.status_code == 200
    return answer.content


async def test_stream_is_observed(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """The hit is recorded; request and answer are the same bytes, and nothing is asked again."""
    write_rules(tmp_path, foo=FOO)
    answer = streamed("so FORB", "IDDEN", " it is")
    upstream.script(Reply(answer, headers=SSE_HEADERS))
    async with agent_at(upstream, tmp_path) as agent:
        assert await post(agent) == answer
        (request,) = upstream.requests
        assert (
            request.body
            == json.dumps({"model": "m", "prompt": "go", "stream": True}, indent=1).encode()
        )
        (hit,) = await agent.audit()
        assert (hit["rule"], hit["action"], hit["surface"]) == ("foo", "observed", "text")
        assert "FORBIDDEN" in hit["excerpt"]
        (turn,) = await agent.audit("turns")
        assert (turn["attempts"], turn["outcome"]) == (1, "completed")


async def test_document_is_observed(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """Each of several choices is read."""
    write_rules(tmp_path, foo=FOO)
    value = {
        "object": "text_completion",
        "choices": [
            {"index": n, "text": text, "finish_reason": "stop"}
            for n, text in enumerate(("fine", "FORBIDDEN"))
        ],
    }
    upstream.script(document(value))
    async with agent_at(upstream, tmp_path) as agent:
        assert json.loads(await post(agent, stream=False, n=2)) == value
        assert [hit["action"] for hit in await agent.audit()] == ["observed"]


@pytest.mark.parametrize(
    ("path", "more"), [("/completions", {"suffix": "tail"}), ("/fim/completions", {})]
)
async def test_filling_a_gap_is_no_matter_for_rules(
    upstream: ScriptedUpstream, tmp_path: Path, path: str, more: dict[str, str]
) -> None:
    """An editor's completions pass through unread."""
    write_rules(tmp_path, foo=FOO)
    answer = streamed("FORBIDDEN")
    upstream.script(Reply(answer, headers=SSE_HEADERS))
    async with agent_at(upstream, tmp_path) as agent:
        assert await post(agent, path, **more) == answer
        assert await agent.audit() == []


async def test_layers_stay_away(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """A prompt has no system message into which rules could be written."""
    write_rules(tmp_path, always="---\nalwaysApply: true\n---\nBe kind.\n")
    upstream.script(Reply(streamed("fine"), headers=SSE_HEADERS))
    async with agent_at(upstream, tmp_path) as agent:
        await post(agent)
        assert b"Be kind" not in upstream.requests[0].body
