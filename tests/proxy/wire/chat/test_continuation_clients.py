"""The continued stream as client libraries read it, not only as our own checker does."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.support.attempts import (
    DONE,
    SEAM,
    USAGE,
    Client,
    attempts,
    called_of,
    chunk,
    prose_of,
    started,
    text_of,
    tool,
)

pytestmark = pytest.mark.clients


def sdk(stream: bytes) -> openai.OpenAI:
    """Make an SDK client whose server answers everything with `stream`."""

    def respond(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream)

    transport = httpx2.Client(transport=httpx2.MockTransport(respond))
    return openai.OpenAI(api_key="none", base_url="http://test/v1", http_client=transport)


def accumulated(stream: bytes) -> Any:
    """Read a stream with the SDK's own accumulator, the strictest of the Python readers."""
    ask: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    with sdk(stream).chat.completions.stream(**ask) as running:
        for _ in running:
            pass
        return running.get_final_completion()


@given(st.data())
@settings(max_examples=25)
def test_sdk_accumulator_reads_one_answer(data: st.DataObject) -> None:
    """Whatever the attempts looked like, the SDK sees one message with the last one's calls."""
    client, prose = Client(include_usage=True), prose_of(data.draw(attempts(regular=True)))
    client.attempt(*prose)
    last = data.draw(attempts())
    seam = SEAM if text_of(prose) else ""
    client.attempt(*last, seam=seam)
    completion = accumulated(client.finish())
    message, said = completion.choices[0].message, text_of(last)
    calls = [
        {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
        for call in message.tool_calls or ()
    ]
    assert (message.content or "") == text_of(prose) + (seam + said if said else "")
    assert calls == called_of(last)
    assert completion.choices[0].finish_reason == ("tool_calls" if calls else "stop")
    assert completion.usage.total_tokens == USAGE["total_tokens"]


def test_sdk_accumulator_reads_a_withheld_call_as_a_message() -> None:
    """An exhausted turn ends in an ordinary answer."""
    client = started()
    client.got += client.continuation.withheld("A call was withheld.")
    completion = accumulated(client.got)
    assert completion.choices[0].message.content == "Hello \n\nA call was withheld."
    assert completion.choices[0].finish_reason == "stop"


def test_sdk_raises_our_error_event() -> None:
    """A client learns from the SDK itself that the stream failed."""
    client = started()
    client.got += client.continuation.error("the upstream is gone", "upstream_gone")
    with pytest.raises(openai.APIError, match="the upstream is gone"):
        accumulated(client.got)


def test_langchain_reads_every_call_whole() -> None:
    """LangChain, which repairs half calls into valid ones, is never given half a call."""
    client = started(include_usage=True)
    client.attempt(
        chunk(tool(3, "", id="x", name="edit")),
        chunk(tool(7, '{"b"', id="y", name="bash")),
        chunk(tool(3, '{"a":1}')),
        chunk(tool(7, ":2}"), finish="stop"),
        chunk(choices=[], usage=USAGE),
        DONE,
    )
    http = sdk(client.finish())._client
    model = ChatOpenAI(
        model="m", api_key=SecretStr("none"), base_url="http://test/v1", http_client=http
    )
    total: Any = AIMessageChunk(content="")
    for piece in model.stream("hi"):
        total = total + piece
    calls = [(call["id"], call["name"], json.dumps(call["args"])) for call in total.tool_calls]
    assert calls == [("x", "edit", '{"a": 1}'), ("y", "bash", '{"b": 2}')]
    assert total.invalid_tool_calls == []
    assert total.response_metadata["finish_reason"] == "tool_calls"
