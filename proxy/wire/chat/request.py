"""A chat request: what the proxy needs of it, and its body with edits applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.conversation import Call, Message
from proxy.errors import BadRequest
from proxy.views import Edit
from proxy.wire import WireRequest
from proxy.wire.chat import edits as body_edits
from proxy.wire.chat.channel import whole
from proxy.wire.chat.reasoning import is_thinking, part_text, read_thought
from proxy.wire.chat.slots import LEGACY
from proxy.wire.chat.tolerant import NotJson, objects, read_json, write_json

_BOM = b"\xef\xbb\xbf"
_FREE_FORMATS = ("text", "")
_GRAMMARS = (
    "grammar",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "guided_whitespace_pattern",
    "structured_outputs",
    "structural_tag",
    "json_schema",
    "regex",
    "ebnf",
)
"""Top-level keys by which vLLM, SGLang, llama.cpp and TGI take a grammar."""

_NESTED_GRAMMARS = ("nvext", "extra_body")


def read(body: bytes) -> WireRequest:
    """Read a request; raises `BadRequest` naming the field that makes it unreadable.

    Refused is only what cannot be understood at all. Unknown roles, parts, types and keys are
    for the upstream to judge.
    """
    root = _root(body)
    messages = _messages(root)
    last = messages[-1]
    continued = last.get("prefix") is True or root.get("continue_final_message") is True
    prefix = continued or last.get("role") == "assistant"
    return WireRequest(
        body=body,
        model=_text(root.get("model")),
        stream=root.get("stream") is True,
        choices=_count(root.get("n")),
        include_usage=_object(root.get("stream_options")).get("include_usage") is True,
        tools=_tool_names(root),
        forced_tool=_forces_tool(root.get("tool_choice")) or _forces_tool(root.get(LEGACY)),
        structured=prefix or _is_structured(root),
        prefix=prefix,
        messages=tuple(_message(message) for message in messages),
        hints=_hints(root),
    )


def spliced(request: WireRequest, edits: Sequence[Edit]) -> bytes:
    """Answer with the body after `edits`; the very same bytes where there are none."""
    return body_edits.apply(request.body, edits) if edits else request.body


def _root(body: bytes) -> dict[str, Any]:
    value = read_json(body.removeprefix(_BOM))
    if isinstance(value, NotJson):
        raise BadRequest("the request body is not JSON; send one JSON object")
    if not isinstance(value, dict):
        raise BadRequest("the request body is JSON, but not an object")
    return value


def _messages(root: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages = root.get("messages")
    if not isinstance(messages, list):
        said = "missing" if "messages" not in root else "not an array"
        raise BadRequest(f"messages is {said}; it must be an array of messages", "messages")
    if not messages:
        raise BadRequest("messages is empty; at least one message is needed", "messages")
    for at, message in enumerate(messages):
        if not isinstance(message, dict):
            raise BadRequest(f"messages[{at}] is not an object", f"messages[{at}]")
    return messages


def _hints(root: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Answer with the strings of the body that may name the conversation, by dotted key."""
    metadata = _object(root.get("metadata"))
    named = [(f"metadata.{key}", metadata.get(key)) for key in ("sessionId", "session_id")]
    named.append(("prompt_cache_key", root.get("prompt_cache_key")))
    return tuple((key, whole(value)) for key, value in named if isinstance(value, str) and value)


def _text(value: Any) -> str:
    return whole(value) if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return max(1, value) if isinstance(value, int) and not isinstance(value, bool) else 1


def _tool_names(root: Mapping[str, Any]) -> tuple[str, ...]:
    """Answer with the names that a call may have: of functions, custom tools, old functions."""
    bodies = [
        _object(tool.get("function")) or _object(tool.get("custom")) or tool
        for tool in objects(root.get("tools"))
    ]
    names = [_text(body.get("name")) for body in (*bodies, *objects(root.get("functions")))]
    return tuple(dict.fromkeys(name for name in names if name))


def _forces_tool(choice: Any) -> bool:
    """Say whether the answer must be a call: a tool is named, or any one is required."""
    if isinstance(choice, str):
        return choice in ("required", "any")
    choice = _object(choice)
    if "allowed_tools" in choice or choice.get("type") == "allowed_tools":
        return "required" in (choice.get("mode"), _object(choice.get("allowed_tools")).get("mode"))
    return bool(choice) and choice.get("type") not in ("auto", "none")


def _is_structured(root: Mapping[str, Any]) -> bool:
    kind = _object(root.get("response_format")).get("type")
    if isinstance(kind, str) and kind not in _FREE_FORMATS:
        return True
    places = [root, *(_object(root.get(key)) for key in _NESTED_GRAMMARS)]
    return any(place.get(key) for place in places for key in _GRAMMARS)


def _message(raw: dict[str, Any]) -> Message:
    call_id = raw.get("tool_call_id")
    return Message(
        role=_text(raw.get("role")),
        text=_content_text(raw.get("content")),
        reasoning=whole(read_thought(raw).text),
        calls=_calls(raw),
        call_id=whole(call_id) if isinstance(call_id, str) else None,
    )


def _content_text(content: Any) -> str:
    """Join the text parts. Each is mended alone, so that lengths are those of the parts."""
    parts = content if isinstance(content, list) else [content]
    return "".join(whole(part_text(part)) for part in parts if not is_thinking(part))


def _calls(raw: Mapping[str, Any]) -> tuple[Call, ...]:
    entries = raw.get("tool_calls")
    calls = [_call(entry) for entry in objects([entries] if isinstance(entries, dict) else entries)]
    legacy = _object(raw.get(LEGACY))
    return tuple([*calls, _call({"function": legacy})] if legacy else calls)


def _call(entry: Mapping[str, Any]) -> Call:
    body = _object(entry.get("function")) or _object(entry.get("custom"))
    arguments = body.get("arguments", body.get("input"))
    if isinstance(arguments, dict | list):
        arguments = write_json(arguments)
    return Call(_text(entry.get("id")) or None, _text(body.get("name")), _text(arguments))
