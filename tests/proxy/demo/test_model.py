from __future__ import annotations

from typing import Any

import httpx
import pytest

from proxy.demo.model import ScriptedModel
from proxy.demo.script import Said
from tests.support.grammar import answer, check_stream

pytestmark = pytest.mark.anyio

CALL = Said("I write.", "write", '{"path": "a.ts", "content": "const a = 1"}')


async def _asked(model: ScriptedModel, *, stream: bool) -> httpx.Response:
    transport = httpx.ASGITransport(model.app())
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "stream": stream}
    async with httpx.AsyncClient(transport=transport, base_url="http://model") as http:
        return await http.post("/v1/chat/completions", json=body)


async def test_streamed_answer_is_a_regular_one() -> None:
    """Text word by word, then the call in pieces."""
    model = ScriptedModel(iter([CALL]))
    got = await _asked(model, stream=True)
    assert check_stream(got.content, include_usage=False) == []
    assert answer(got.content).text == CALL.text
    assert model.asked == [[{"role": "user", "content": "hi"}]]


async def test_whole_answer_says_the_same() -> None:
    """A request that is not streamed gets one document."""
    got = await _asked(ScriptedModel(iter([CALL])), stream=False)
    message = got.json()["choices"][0]["message"]
    assert message["content"] == CALL.text
    assert message["tool_calls"][0]["function"]["arguments"] == CALL.arguments


async def test_model_says_so_when_its_script_is_over() -> None:
    """Someone who goes on talking to it is told what to do."""
    got = await _asked(ScriptedModel(iter([])), stream=False)
    assert "Restart the demo" in got.json()["choices"][0]["message"]["content"]
