"""The messages of a chat request, each read when something of it is first asked for; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any

from proxy.conversation import Call, Message, hashed
from proxy.wire.chat.reasoning import is_thinking, part_text, read_thought
from proxy.wire.chat.slots import LEGACY
from proxy.wire.chat.unread import Unread
from proxy.wire.openai.channel import whole
from proxy.wire.openai.request import object_of, text_of
from proxy.wire.openai.tolerant import objects, write_json

_TOLD_BY = ("content", "tool_calls", LEGACY)  # what text and calls are read from


class ChatMessage(Message):
    """A message whose text, reasoning and calls are read when they are first asked for."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        call_id = raw.get("tool_call_id")
        known = whole(call_id) if isinstance(call_id, str) else None
        # A message is frozen for everyone else.
        object.__setattr__(self, "role", text_of(raw.get("role")))
        object.__setattr__(self, "call_id", known)
        object.__setattr__(self, "_raw", raw)

    _raw: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """See `Message`."""
        return _content_text(self._raw.get("content"))

    @cached_property
    def reasoning(self) -> str:
        """See `Message`."""
        return whole(read_thought(self._raw).text)

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """See `Message`."""
        return _calls(self._raw)

    @property
    def stamp(self) -> bytes:
        """See `Message`."""
        if not isinstance(self._raw, Unread):
            return b""
        return hashed(self._raw.joined(_TOLD_BY))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash(_values(self))


def _values(message: Message) -> tuple[object, ...]:
    return tuple(getattr(message, field.name) for field in fields(Message))


def _content_text(content: Any) -> str:
    """Join the text parts. Each is mended alone, so that lengths are those of the parts."""
    parts = content if isinstance(content, list) else [content]
    return "".join(whole(part_text(part)) for part in parts if not is_thinking(part))


def _calls(raw: Mapping[str, Any]) -> tuple[Call, ...]:
    entries = raw.get("tool_calls")
    calls = [_call(entry) for entry in objects([entries] if isinstance(entries, dict) else entries)]
    legacy = object_of(raw.get(LEGACY))
    return tuple([*calls, _call({"function": legacy})] if legacy else calls)


def _call(entry: Mapping[str, Any]) -> Call:
    body = object_of(entry.get("function")) or object_of(entry.get("custom"))
    arguments = body.get("arguments", body.get("input"))
    if isinstance(arguments, dict | list):
        arguments = write_json(arguments)
    return Call(text_of(entry.get("id")) or None, text_of(body.get("name")), text_of(arguments))
