"""A chat request: what the proxy needs of it, and its body with edits applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.errors import BadRequest
from proxy.views import Edit
from proxy.wire import WireRequest
from proxy.wire.chat import edits as body_edits
from proxy.wire.chat.messages import ChatMessage
from proxy.wire.chat.slots import LEGACY
from proxy.wire.chat.unread import read_body
from proxy.wire.openai.request import (
    BOM,
    asks_for_usage,
    count_of,
    hints_of,
    is_structured,
    object_of,
    text_of,
)
from proxy.wire.openai.tolerant import NotJson, objects


def read(body: bytes) -> WireRequest:
    """Read a request; raises `BadRequest` naming the field that makes it unreadable.

    Refused is only what cannot be understood at all. Unknown roles, parts, types and keys are
    for the upstream to judge.
    """
    return of_values(body, read_body(body.removeprefix(BOM)))


def of_values(body: bytes, value: Any) -> WireRequest:
    """Make the request of a body that was read as JSON; raises as `read` does."""
    root = _root(value)
    messages = _messages(root)
    last = messages[-1]
    continued = last.get("prefix") is True or root.get("continue_final_message") is True
    prefix = continued or last.get("role") == "assistant"
    return WireRequest(
        body=body,
        model=text_of(root.get("model")),
        stream=root.get("stream") is True,
        choices=count_of(root.get("n")),
        include_usage=asks_for_usage(root),
        tools=_tool_names(root),
        forced_tool=_forces_tool(root.get("tool_choice")) or _forces_tool(root.get(LEGACY)),
        tools_off="none" in (root.get("tool_choice"), root.get(LEGACY)),
        structured=prefix or is_structured(root),
        prefix=prefix,
        messages=tuple(map(ChatMessage, messages)),
        hints=hints_of(root),
    )


def spliced(request: WireRequest, edits: Sequence[Edit]) -> bytes:
    """Answer with the body after `edits`; the very same bytes where there are none."""
    return body_edits.apply(request.body, edits) if edits else request.body


def _root(value: Any) -> Mapping[str, Any]:
    if isinstance(value, NotJson):
        raise BadRequest("the request body is not JSON; send one JSON object")
    if not isinstance(value, Mapping):
        raise BadRequest("the request body is JSON, but not an object")
    return value


def _messages(root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    messages = root.get("messages")
    if not isinstance(messages, list):
        said = "missing" if "messages" not in root else "not an array"
        raise BadRequest(f"messages is {said}; it must be an array of messages", "messages")
    if not messages:
        raise BadRequest("messages is empty; at least one message is needed", "messages")
    for at, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise BadRequest(f"messages[{at}] is not an object", f"messages[{at}]")
    return messages


def _tool_names(root: Mapping[str, Any]) -> tuple[str, ...]:
    """Answer with the names that a call may have: of functions, custom tools, old functions."""
    bodies = [
        object_of(tool.get("function")) or object_of(tool.get("custom")) or tool
        for tool in objects(root.get("tools"))
    ]
    names = [text_of(body.get("name")) for body in (*bodies, *objects(root.get("functions")))]
    return tuple(dict.fromkeys(name for name in names if name))


def _forces_tool(choice: Any) -> bool:
    """Say whether the answer must be a call: a tool is named, or any one is required."""
    if isinstance(choice, str):
        return choice in ("required", "any")
    choice = object_of(choice)
    if "allowed_tools" in choice or choice.get("type") == "allowed_tools":
        return "required" in (
            choice.get("mode"),
            object_of(choice.get("allowed_tools")).get("mode"),
        )
    return bool(choice) and choice.get("type") not in ("auto", "none")
