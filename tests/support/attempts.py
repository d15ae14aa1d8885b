"""Attempts as upstreams stream them, and a client that is served from several of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from proxy.quirks import Profile
from proxy.sse import SseEvent, SseReader
from proxy.wire import Decoded, WireRequest
from proxy.wire.chat.continuation import ChatContinuation
from proxy.wire.chat.decoder import ChatDecoder

USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
SEAM = "\n\n"
DONE = b"data: [DONE]\n\n"
TEXTS = st.text(st.sampled_from("ab `\n\U0001f600\u2028é"), min_size=1, max_size=6)


def request(*, include_usage: bool = False) -> WireRequest:
    return WireRequest(
        body=b"{}",
        model="asked-model",
        stream=True,
        choices=1,
        include_usage=include_usage,
        tools=(),
        forced_tool=False,
        structured=False,
        prefix=False,
        messages=(),
    )


def chunk(
    delta: Any = None, *, answer_id: str = "a", finish: str | None = None, **more: Any
) -> Any:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {
        "id": f"chatcmpl-{answer_id}",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000 + ord(answer_id[0]),
        "model": f"model-{answer_id}",
        "choices": [choice],
        **more,
    }


def tool(index: Any, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """Make a delta with one piece of a call."""
    name, call_id = more.pop("name", None), more.pop("id", None)
    body = {"name": name, "arguments": arguments}
    entry: dict[str, Any] = {"index": index, "id": call_id, "type": call_id and "function"}
    entry["function"] = {key: value for key, value in body.items() if value is not None}
    kept = {key: value for key, value in (entry | more).items() if value is not None}
    return {"tool_calls": [kept]}


def wire(*chunks: Any) -> bytes:
    """Chunks (objects, or bytes as they are) as a stream."""
    return b"".join(
        one if isinstance(one, bytes) else b"data: " + json.dumps(one).encode() + b"\n\n"
        for one in chunks
    )


def read(stream: bytes, decoder: ChatDecoder | None = None) -> list[tuple[SseEvent, Decoded]]:
    """Read a stream's events."""
    reader, decoder = SseReader(), decoder or ChatDecoder(Profile())
    events = list(reader.feed(stream))
    if (tail := reader.tail()) is not None:
        events.append(tail)
    return [(event, decoder.decode(event)) for event in events]


@dataclass
class Client:
    """Plays attempts into a continuation and keeps what the client gets."""

    include_usage: bool = False
    profile: Profile = field(default_factory=Profile)

    def __post_init__(self) -> None:
        self.continuation = ChatContinuation(request(include_usage=self.include_usage))
        self.got = b""
        self.attempts = 0

    def attempt(self, *chunks: Any, seam: str = "", release: int | None = None) -> bytes:
        """One attempt, of which the first `release` events are released (None: all)."""
        if self.attempts:
            self.continuation.reissued(seam)
        self.decoder = ChatDecoder(self.profile)
        events = read(wire(*chunks), self.decoder)
        before = len(self.got)
        for event, decoded in events[:release]:
            put = self.continuation.later if self.attempts else self.continuation.first
            self.got += put(event, decoded)
        self.attempts += 1
        return self.got[before:]

    def finish(self) -> bytes:
        self.got += self.continuation.finish()
        return self.got


def datas(stream: bytes) -> list[Any]:
    return [
        json.loads(line[6:])
        for line in stream.decode().split("\n")
        if line.startswith("data: ") and line != "data: [DONE]"
    ]


def started(*, include_usage: bool = False) -> Client:
    """Make a client that has seen `Hello ` of a first attempt."""
    client = Client(include_usage)
    client.attempt(chunk({"role": "assistant", "content": ""}), chunk({"content": "Hello "}))
    return client


@st.composite
def attempts(draw: st.DrawFn, *, regular: bool = False) -> list[Any]:
    """One attempt's chunks: prose, reasoning and calls in any order, odd shapes in between."""
    name = draw(st.sampled_from("bcdef"))
    step = 1 if regular else draw(st.integers(1, 3))
    count = draw(st.integers(0, 3))
    pieces: list[dict[str, Any]] = [
        tool(n * step, draw(st.sampled_from(["", "{"])), id=f"{name}{n}", name=f"t{n}")
        for n in range(count)
    ]
    deltas: list[Any] = [{"content": draw(TEXTS)} for _ in range(draw(st.integers(0, 3)))]
    deltas += [{"reasoning_content": draw(TEXTS)} for _ in range(draw(st.integers(0, 2)))]
    order = draw(st.permutations(range(len(deltas))))
    deltas = [deltas[n] for n in order]
    tails = [tool(draw(st.integers(0, count - 1)) * step, draw(TEXTS)) for _ in range(count * 2)]
    if regular:
        tails.sort(key=lambda delta: delta["tool_calls"][0]["index"])
        merged = [p for n in range(count) for p in (pieces[n], *_of(tails, n))]
        body = [{"role": "assistant", "content": ""}, *deltas, *merged]
    else:
        body = _shuffled(draw, [*deltas, {}, None, {"role": "assistant"}], [*pieces, *tails])
    more: dict[str, Any] = (
        {} if regular else {"usage": draw(st.sampled_from([None, USAGE, {"total_tokens": 1}]))}
    )
    chunks: list[Any] = [chunk(delta, answer_id=name, **more) for delta in body]
    if not regular:
        chunks.insert(draw(st.integers(0, len(chunks))), chunk(answer_id=name, choices=[]))
        chunks.insert(draw(st.integers(0, len(chunks))), b": ping\n\n")
    chunks.append(chunk(answer_id=name, finish="tool_calls" if count else "stop"))
    chunks.append(chunk(answer_id=name, choices=[], usage=USAGE))
    return [*chunks, DONE]


def _of(tails: list[dict[str, Any]], index: int) -> list[dict[str, Any]]:
    return [tail for tail in tails if tail["tool_calls"][0]["index"] == index]


def _shuffled(draw: st.DrawFn, prose: list[Any], calls: list[Any]) -> list[Any]:
    """Both lists merged; each keeps its own order."""
    slots = draw(st.permutations([True] * len(prose) + [False] * len(calls)))
    left, right = iter(prose), iter(calls)
    return [next(left) if first else next(right) for first in slots]


def prose_of(chunks: Sequence[Any]) -> list[Any]:
    """Take an attempt's chunks up to its calls: more is not released of one that is cut."""
    ends = [n for n, one in enumerate(chunks) if _calls_or_ends(one)]
    return list(chunks[: ends[0]])


def _calls_or_ends(one: Any) -> bool:
    if isinstance(one, bytes):
        return one == DONE
    return any((c["delta"] or {}).get("tool_calls") or c["finish_reason"] for c in one["choices"])


def text_of(chunks: Sequence[Any]) -> str:
    spoken = [
        c["delta"] or {} for one in chunks if not isinstance(one, bytes) for c in one["choices"]
    ]
    return "".join(delta.get("content") or "" for delta in spoken)


def called_of(chunks: Sequence[Any]) -> list[dict[str, Any]]:
    calls: dict[Any, dict[str, Any]] = {}
    for one in chunks:
        for choice in [] if isinstance(one, bytes) else one["choices"]:
            for piece in (choice["delta"] or {}).get("tool_calls", ()):
                body = piece["function"]
                blank = {"id": piece.get("id"), "name": body.get("name"), "arguments": ""}
                call = calls.setdefault(piece["index"], blank)
                call["arguments"] += body.get("arguments", "")
    return list(calls.values())
