from __future__ import annotations

import json

import pytest

from proxy.errors import BadRequest
from proxy.quirks import PLAIN
from proxy.sse import SseEvent
from proxy.views import Insert
from proxy.wire.chat import WIRE_API

BODY = b'{"model":"m","messages":[{"role":"user","content":"a"}]}'


def test_api_reads_and_splices_a_request() -> None:
    """A request goes through unchanged without edits, and with them in place."""
    request = WIRE_API.read(BODY)
    assert WIRE_API.spliced(request, ()) is BODY
    spliced = WIRE_API.spliced(request, [Insert(0, (WIRE_API.user("n"), WIRE_API.partial("p")))])
    assert [m["content"] for m in json.loads(spliced)["messages"]] == ["n", "p", "a"]
    with pytest.raises(BadRequest):
        WIRE_API.read(b"[]")


def test_api_makes_a_fresh_decoder_and_continuation() -> None:
    """Each attempt has its own reader, each turn its own stream."""
    event = SseEvent(b"data: [DONE]\n\n", "[DONE]")
    decoder = WIRE_API.decoder(PLAIN)
    assert decoder.decode(event).done
    assert WIRE_API.decoder(PLAIN).decode(event).done
    continuation = WIRE_API.continuation(WIRE_API.read(BODY))
    assert continuation.first(event, decoder.decode(event)) == event.raw


def test_api_renders_what_the_proxy_writes() -> None:
    """Refusals, documents and errors come in the chat API's form."""
    decoder = WIRE_API.decoder(PLAIN)
    call = {"id": "a", "function": {"name": "x", "arguments": "{}"}}
    decoder.document(json.dumps({"choices": [{"message": {"tool_calls": [call]}}]}).encode())
    messages = WIRE_API.refused(decoder.message(0), ["r"], PLAIN)
    assert [json.loads(m)["role"] for m in messages] == ["assistant", "tool"]
    assert json.loads(WIRE_API.document("w", WIRE_API.read(BODY)))["model"] == "m"
    assert json.loads(WIRE_API.error_body("w", "k", "c"))["error"]["type"] == "k"


def test_api_serves_the_chat_path() -> None:
    """The path stands behind any base."""
    assert (WIRE_API.name, WIRE_API.paths) == ("chat", ("/chat/completions",))
