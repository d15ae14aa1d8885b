"""Events of a chat stream written by hand, odd ones too, and trials made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from proxy.quirks import Profile
from tests.support.trials import SURFACES, Hit, Surface, Trial
from tests.support.upstream import SSE_HEADERS, Reply

HEAD = {"id": "cc-7", "object": "chat.completion.chunk", "created": 1750000000, "model": "alt"}


def variant(
    name: str,
    events: Sequence[bytes],
    *,
    reply: Mapping[str, Any] | None = None,
    request: Mapping[str, Any] | None = None,
    profile: Profile | None = None,
    at_end: frozenset[Surface] = frozenset(),
    observed: bool = False,
    lost: Sequence[int] = (),
    **hits: int | tuple[int, int],
) -> Trial:
    """Put events together.

    hits: surface to event number, or to those of the match's begin and of its deciding;
    lost: events never delivered.
    """
    edges = [0]
    for event in events:
        edges.append(edges[-1] + len(event))
    settings = {"splits": tuple(edges[1:-1]), "headers": SSE_HEADERS} | dict(reply or {})
    return Trial(
        name,
        Reply(b"".join(events), **settings),
        profile=profile or Profile(),
        hits={surface: _hit(edges, hits[surface]) for surface in SURFACES if surface in hits},
        request=request or {},
        at_end=at_end,
        observed=observed,
        undelivered=tuple((edges[at], edges[at + 1]) for at in lost),
    )


def _hit(edges: Sequence[int], events: int | tuple[int, int]) -> Hit:
    begun, decided = (events, events) if isinstance(events, int) else events
    return Hit(edges[begun], edges[decided + 1])


def raw(value: object, end: str = "\n", field: str = "data: ") -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{field}{text}{end}{end}".encode("utf-8", "surrogatepass")


def chunk(delta: object = None, finish: str | None = None, /, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {**HEAD, "choices": [choice], **more}


def say(text: str, finish: str | None = None, end: str = "\n", **more: Any) -> bytes:
    return raw(chunk({"content": text}, finish, **more), end)


def opening(end: str = "\n") -> bytes:
    return raw(chunk({"role": "assistant", "content": ""}), end)


def stop(reason: str = "stop", end: str = "\n") -> bytes:
    return raw(chunk({}, reason), end)


def done(end: str = "\n") -> bytes:
    return raw("[DONE]", end)


def call_piece(**piece: Any) -> bytes:
    return raw(chunk({"tool_calls": [piece]}))


def more_of(index: int, arguments: str, **more: Any) -> bytes:
    return call_piece(index=index, function={"arguments": arguments}, **more)


def call_named(index: int, name: str, arguments: str = "", **more: Any) -> bytes:
    body = {"name": name, "arguments": arguments}
    return call_piece(index=index, id=f"call_x{index}", type="function", function=body, **more)


def told(end: str, *middle: bytes) -> list[bytes]:
    return [opening(end), *middle, stop(end=end), done(end)]
