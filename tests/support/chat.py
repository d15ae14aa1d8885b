"""Chat-completion answers built from pieces: text, thinking and tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.upstream import Reply, document


@dataclass(frozen=True, slots=True)
class Thinking:
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A call; its arguments are streamed in pieces of `piece` characters."""

    name: str
    arguments: str
    id: str = "call_a1"
    index: int = 0
    piece: int = 8


Piece = str | Thinking | Tool


def event(chunk: Mapping[str, Any]) -> bytes:
    """One chunk as an SSE event."""
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def events(
    *pieces: Piece,
    finish: str | None = "auto",
    usage: Mapping[str, int] | None = None,
    done: bool = True,
    id: str = "chatcmpl-1",  # noqa: A002 - the wire's word
    model: str = "test-model",
) -> list[bytes]:
    """Every event of an answer. `finish` None: no finish reason; `auto`: by what was said."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for piece in pieces:
        deltas += _deltas(piece)

    def chunk(**more: Any) -> bytes:
        head = {"id": id, "object": "chat.completion.chunk", "created": 1700000000, "model": model}
        return event(head | more)

    out = [chunk(choices=[{"index": 0, "delta": d, "finish_reason": None}]) for d in deltas]
    if finish == "auto":
        finish = "tool_calls" if any(isinstance(p, Tool) for p in pieces) else "stop"
    if finish is not None:
        out.append(chunk(choices=[{"index": 0, "delta": {}, "finish_reason": finish}]))
    if usage is not None:
        out.append(chunk(choices=[], usage=dict(usage)))
    if done:
        out.append(b"data: [DONE]\n\n")
    return out


def chat(*pieces: Piece, **more: Any) -> bytes:
    """Build the body of a streamed answer; keywords as for `events`."""
    return b"".join(events(*pieces, **more))


def chat_reply(*pieces: Piece, **more: Any) -> Reply:
    """Script a streamed answer in which every event is one write."""
    out = events(*pieces, **more)
    offsets, at = [], 0
    for raw in out:
        at += len(raw)
        offsets.append(at)
    return Reply(b"".join(out), splits=tuple(offsets[:-1]))


def completion(
    *pieces: Piece,
    id: str = "chatcmpl-1",  # noqa: A002 - the wire's word
    model: str = "test-model",
    usage: Mapping[str, int] | None = None,
) -> Reply:
    """Script the same answer as one JSON document."""
    calls = [piece for piece in pieces if isinstance(piece, Tool)]
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    thinking = "".join(piece.text for piece in pieces if isinstance(piece, Thinking))
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if thinking:
        message["reasoning_content"] = thinking
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if calls else "stop",
    }
    return document(
        {
            "id": id,
            "object": "chat.completion",
            "created": 1700000000,
            "model": model,
            "choices": [choice],
            "usage": dict(usage or {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}),
        }
    )


def _deltas(piece: Piece) -> Iterable[dict[str, Any]]:
    if isinstance(piece, str):
        return [{"content": piece}]
    if isinstance(piece, Thinking):
        return [{"reasoning_content": piece.text}]
    start = {
        "index": piece.index,
        "id": piece.id,
        "type": "function",
        "function": {"name": piece.name, "arguments": ""},
    }
    cuts = range(0, len(piece.arguments), piece.piece)
    rest = [
        {
            "index": piece.index,
            "function": {"arguments": piece.arguments[at : at + piece.piece]},
        }
        for at in cuts
    ]
    return [{"tool_calls": [call]} for call in [start, *rest]]
