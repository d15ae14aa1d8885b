"""The scripted model: an OpenAI-compatible endpoint that plays answers in order."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from proxy.demo.script import Said

_WORD = re.compile(r"\s*\S+")  # one event, as models stream
MODEL = "scripted"


class ScriptedModel:
    """Plays `answers`, one a request; `asked` keeps each request's messages."""

    def __init__(self, answers: Iterator[Said]) -> None:
        self.asked: list[list[dict[str, Any]]] = []
        self._answers = answers
        self._calls = 0

    def app(self) -> Starlette:
        """The ASGI app that serves it."""
        return Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])

    async def _answer(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body["messages"])
        said = next(self._answers, Said("The script is over. Restart the demo to play it again."))
        if said.tool:
            self._calls += 1
        deltas = list(_deltas(said, f"call_demo_{self._calls}x"))
        if body.get("stream"):
            return StreamingResponse(_events(deltas, said), media_type="text/event-stream")
        return JSONResponse(_document(said, f"call_demo_{self._calls}x"))


def _deltas(said: Said, call_id: str) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in _WORD.findall(said.text):
        yield {"content": piece}
    if said.tool:
        head = {"name": said.tool, "arguments": ""}
        yield {"tool_calls": [{"index": 0, "id": call_id, "type": "function", "function": head}]}
        for piece in _WORD.findall(said.arguments):
            yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


async def _events(deltas: list[dict[str, Any]], said: Said) -> AsyncIterator[bytes]:
    finish = "tool_calls" if said.tool else "stop"
    for delta, reason in (*((delta, None) for delta in deltas), ({}, finish)):
        yield _event([{"index": 0, "delta": delta, "finish_reason": reason}])
    yield b"data: [DONE]\n\n"


def _event(choices: list[dict[str, Any]]) -> bytes:
    chunk = {
        "id": "chatcmpl-demo",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": MODEL,
        "choices": choices,
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _document(said: Said, call_id: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.tool:
        function = {"name": said.tool, "arguments": said.arguments}
        message["tool_calls"] = [{"id": call_id, "type": "function", "function": function}]
    finish = "tool_calls" if said.tool else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    head = {"id": "chatcmpl-demo", "object": "chat.completion", "created": 0, "model": MODEL}
    return head | {"choices": [choice]}
