"""Checks a chat stream as the strictest of its known readers would; knows nothing of the proxy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

DONE = "[DONE]"


@dataclass(slots=True)
class Answer:
    """What a reader makes of a stream that holds the grammar."""

    text: str = ""
    reasoning: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    finish: str | None = None
    usage: dict[str, Any] | None = None
    done: bool = False
    errors: list[Any] = field(default_factory=list)


def check_stream(
    stream: bytes,
    *,
    include_usage: bool,
    first_attempt_regular: bool = True,
    complete: bool = True,
) -> list[str]:
    """List what is wrong with a stream; empty if nothing is.

    first_attempt_regular: the upstream of the untouched part kept the grammar itself. Where it
    did not, only what the proxy alone answers for is checked: one identity, at most one finish
    reason, nothing behind the end mark.
    complete: the answer must have a finish reason and an end mark.
    """
    datas, wrong = _framed(stream)
    wrong = wrong if first_attempt_regular else []
    chunks = [json.loads(data) for data in datas if data != DONE]
    wrong += _after_end(datas) + _identities(chunks) + _finishes(chunks, complete=complete)
    if complete and DONE not in datas:
        wrong.append("no end mark")
    if first_attempt_regular:
        wrong += [*_roles(chunks), *_shapes(chunks), *_calls(chunks), *_usages(chunks)]
        if not include_usage and any(chunk.get("usage") for chunk in chunks):
            wrong.append("usage that nobody asked for")
    return wrong


def check_completion(stream: bytes, *, include_usage: bool, complete: bool = True) -> list[str]:
    """List what is wrong with the stream of a plain completion; empty if nothing is."""
    datas, wrong = _framed(stream)
    chunks = [json.loads(data) for data in datas if data != DONE]
    wrong += _after_end(datas) + _identities(chunks) + _finishes(chunks, complete=complete)
    if complete and DONE not in datas:
        wrong.append("no end mark")
    wrong += _usages(chunks)
    if not include_usage and any(chunk.get("usage") for chunk in chunks):
        wrong.append("usage that nobody asked for")
    choices = [choice for chunk in chunks for choice in chunk.get("choices") or ()]
    wrong += [f"choice {c!r}" for c in choices if not isinstance(c.get("text"), str) or c["index"]]
    kinds = {chunk["object"] for chunk in chunks if "choices" in chunk}
    return wrong if kinds <= {"text_completion"} else [*wrong, f"objects {kinds}"]


def answer(stream: bytes) -> Answer:
    """Put a stream together, calls by index."""
    out = Answer()
    for data in _framed(stream)[0]:
        if data == DONE:
            out.done = True
            continue
        chunk = json.loads(data)
        if chunk.get("error"):
            out.errors.append(chunk["error"])
        out.usage = chunk.get("usage") or out.usage
        for choice in chunk.get("choices") or ():
            _add(out, choice)
    return out


def _add(out: Answer, choice: dict[str, Any]) -> None:
    delta = choice.get("delta") or {}
    out.text += delta.get("content") or choice.get("text") or ""
    out.reasoning += delta.get("reasoning_content") or ""
    out.finish = choice.get("finish_reason") or out.finish
    old = delta.get("function_call")
    for piece in delta.get("tool_calls") or ([{"index": 0, "function": old}] if old else ()):
        while len(out.calls) <= piece["index"]:
            out.calls.append({"id": None, "name": "", "arguments": ""})
        call, body = out.calls[piece["index"]], piece.get("function", piece.get("custom")) or {}
        call["id"] = piece.get("id") or call["id"]
        call["name"] += body.get("name") or ""
        call["arguments"] += body.get("arguments", body.get("input")) or ""


def _framed(stream: bytes) -> tuple[list[str], list[str]]:
    """Return the data of all events, and what is wrong with how they are framed."""
    wrong = ["a carriage return"] if b"\r" in stream else []
    datas: list[str] = []
    # The rules of the format itself, so that an irregular first attempt is still read.
    for block in re.split(rb"(?:\r\n|\r|\n){2}", stream):
        lines = [line.decode() for line in re.split(rb"\r\n|\r|\n", block) if line]
        data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
        wrong += [f"field in {line!r}" for line in lines if not line.startswith(("data: ", ": "))]
        wrong += [f"comment {line!r}" for line in lines if line.startswith(": ping")]
        if len(data) > 1:
            wrong.append("an event of several data lines")
        joined = "\n".join(data).strip()
        if joined:
            datas.append(joined)
    if stream and not stream.endswith(b"\n\n") and b"\r" not in stream:
        wrong.append("the last event is not ended")
    return datas, wrong


def _after_end(datas: list[str]) -> list[str]:
    behind = datas[datas.index(DONE) + 1 :] if DONE in datas else []
    return [f"behind the end mark: {data}" for data in behind]


def _identities(chunks: list[dict[str, Any]]) -> list[str]:
    answers = [chunk for chunk in chunks if "choices" in chunk]
    seen = {
        key: {chunk[key] for chunk in answers if chunk.get(key)}
        for key in ("id", "created", "model")
    }
    return [f"{key} changes: {values}" for key, values in seen.items() if len(values) > 1]


def _finishes(chunks: list[dict[str, Any]], *, complete: bool) -> list[str]:
    choices = [choice for chunk in chunks for choice in chunk.get("choices") or ()]
    reasons = [c["finish_reason"] for c in choices if c.get("finish_reason")]
    called = any((c.get("delta") or {}).get("tool_calls") for c in choices)
    wrong = []
    if len(reasons) > 1 or (complete and not reasons):
        wrong.append(f"finish reasons {reasons}")
    wrong += [
        f"finish reason {reason} with calls: {called}"
        for reason in reasons
        if (reason == "tool_calls") != called
    ]
    return wrong


def _roles(chunks: list[dict[str, Any]]) -> Iterator[str]:
    spoken = [c for chunk in chunks for c in chunk.get("choices") or ()]
    roles = [(c.get("delta") or {}).get("role") for c in spoken]
    if roles and roles[0] != "assistant":
        yield f"the first chunk's role is {roles[0]!r}"
    if any(role is not None for role in roles[1:]):
        yield f"a role after the first chunk: {roles}"


def _shapes(chunks: list[dict[str, Any]]) -> Iterator[str]:
    for chunk in chunks:
        if "error" in chunk:
            if not isinstance(chunk["error"], dict) or not isinstance(
                chunk["error"].get("message"), str
            ):
                yield f"error {chunk['error']!r}"
            continue
        if not isinstance(chunk.get("choices"), list):
            yield f"choices {chunk.get('choices')!r}"
            continue
        for choice in chunk["choices"]:
            if not isinstance(choice.get("delta"), dict):
                yield f"delta {choice.get('delta')!r}"
            if choice.get("index") != 0:
                yield f"choice index {choice.get('index')!r}"


def _calls(chunks: list[dict[str, Any]]) -> Iterator[str]:
    """Dense indices, whole first deltas, no interleaving, nothing between or behind but calls."""
    current, finished = -1, False
    for chunk in chunks:
        if chunk.get("choices") == [] and current >= 0 and not finished:
            yield "empty choices inside the calls"
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            finished = finished or bool(choice.get("finish_reason"))
            if current >= 0 and delta.get("content"):
                yield f"text behind a call: {delta['content']!r}"
            for piece in delta.get("tool_calls") or ():
                yield from _piece(piece, current)
                current = max(current, piece.get("index", -1))


def _piece(piece: dict[str, Any], current: int) -> Iterator[str]:
    index, body = piece.get("index"), piece.get("function", piece.get("custom")) or {}
    if index not in {current, current + 1} or index == -1:
        yield f"index {index} behind {current}"
    if not isinstance(body.get("arguments", body.get("input")), str):
        yield f"arguments {body!r}"
    if index == current + 1:
        lacking = [name for name in ("id", "type") if not piece.get(name)]
        lacking += [] if body.get("name") else ["name"]
        if lacking:
            yield f"the first delta of call {index} lacks {lacking}"
    elif any(piece.get(name) for name in ("id", "type")) or body.get("name"):
        yield f"a later delta of call {index} names it again"


def _usages(chunks: list[dict[str, Any]]) -> Iterator[str]:
    finished = False
    for chunk in chunks:
        for choice in chunk.get("choices") or ():
            finished = finished or bool(choice.get("finish_reason"))
        if chunk.get("usage"):
            if not finished:
                yield "usage in front of the finish reason"
            if chunk.get("choices") != []:
                yield "usage in a chunk with choices"
