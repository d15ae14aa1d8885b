"""A request body as JSON values, each read when it is first asked for; pure.

Of a long conversation hardly anything is ever asked for: the body is gone through once, and its
values are left as slices of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from proxy.wire.openai.tolerant import read_json, with_whole_characters

_Slice = msgspec.Raw | msgspec.UnsetType
_NOT_THERE = msgspec.UNSET


class _Message(msgspec.Struct):
    """The keys of a message that are ever read; the short ones are read at once."""

    role: Any = _NOT_THERE
    prefix: Any = _NOT_THERE
    tool_call_id: Any = _NOT_THERE
    content: _Slice = _NOT_THERE
    tool_calls: _Slice = _NOT_THERE
    function_call: _Slice = _NOT_THERE
    reasoning_content: _Slice = _NOT_THERE
    reasoning: _Slice = _NOT_THERE
    thinking: _Slice = _NOT_THERE
    reasoning_text: _Slice = _NOT_THERE
    reasoning_details: _Slice = _NOT_THERE
    thinking_blocks: _Slice = _NOT_THERE


class _Body(msgspec.Struct):
    """The keys of a body that are ever read."""

    messages: list[_Message]
    model: _Slice = _NOT_THERE
    stream: _Slice = _NOT_THERE
    n: _Slice = _NOT_THERE
    stream_options: _Slice = _NOT_THERE
    tools: _Slice = _NOT_THERE
    functions: _Slice = _NOT_THERE
    tool_choice: _Slice = _NOT_THERE
    function_call: _Slice = _NOT_THERE
    response_format: _Slice = _NOT_THERE
    metadata: _Slice = _NOT_THERE
    prompt_cache_key: _Slice = _NOT_THERE
    continue_final_message: _Slice = _NOT_THERE
    grammar: _Slice = _NOT_THERE
    guided_json: _Slice = _NOT_THERE
    guided_regex: _Slice = _NOT_THERE
    guided_choice: _Slice = _NOT_THERE
    guided_grammar: _Slice = _NOT_THERE
    guided_whitespace_pattern: _Slice = _NOT_THERE
    structured_outputs: _Slice = _NOT_THERE
    structural_tag: _Slice = _NOT_THERE
    json_schema: _Slice = _NOT_THERE
    regex: _Slice = _NOT_THERE
    ebnf: _Slice = _NOT_THERE
    nvext: _Slice = _NOT_THERE
    extra_body: _Slice = _NOT_THERE


class _Part(msgspec.Struct):
    """The keys of a content part that are ever read; a picture is none of them."""

    type: Any = _NOT_THERE
    text: Any = _NOT_THERE
    thinking: Any = _NOT_THERE


_strict = msgspec.json.Decoder(_Body)
_content = msgspec.json.Decoder(str | list[str | _Part] | None)


class Unread(Mapping[str, Any]):
    """An object of which only some keys are known, with values that are read when asked for."""

    __slots__ = ("_slices",)

    def __init__(self, slices: msgspec.Struct) -> None:
        self._slices = slices

    def get(self, key: str, default: Any = None) -> Any:
        """Read a value; only keys that are known may be asked for."""
        found = getattr(self._slices, key, _NOT_THERE)
        if found is _NOT_THERE:
            return default
        if not isinstance(found, msgspec.Raw):
            return found
        return _read_content(found) if key == "content" else read_json(bytes(found))

    def __getitem__(self, key: str) -> Any:
        found = self.get(key, _NOT_THERE)
        if found is _NOT_THERE:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        fields = self._slices.__struct_fields__
        return (key for key in fields if getattr(self._slices, key) is not _NOT_THERE)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def joined(self, keys: Iterable[str]) -> bytes:
        """Answer with values as they stand in the body, a zero byte (in no JSON) between them."""
        found = (getattr(self._slices, key) for key in keys)
        return b"\0".join([each if isinstance(each, msgspec.Raw) else b"" for each in found])


def _read_content(data: msgspec.Raw) -> Any:
    """Read a message's content, of the usual parts no more than is ever read."""
    try:
        content = _content.decode(data)
    except (ValueError, RecursionError):
        return read_json(bytes(data))
    if not isinstance(content, list):
        return content
    return [part if isinstance(part, str) else _known(part) for part in content]


def _known(part: _Part) -> dict[str, Any]:
    values = ((key, getattr(part, key)) for key in part.__struct_fields__)
    return {key: value for key, value in values if value is not _NOT_THERE}


class UnreadBody(Mapping[str, Any]):
    """A request's body; its messages are `Unread`.

    Few of the keys that are known are ever there, so that those which are get a mapping.
    """

    __slots__ = ("_found",)

    def __init__(self, slices: _Body) -> None:
        values = zip(slices.__struct_fields__, msgspec.structs.astuple(slices), strict=True)
        self._found = {key: value for key, value in values if value is not _NOT_THERE}

    def get(self, key: str, default: Any = None) -> Any:
        """Read a value; the messages are left unread."""
        return self[key] if key in self._found else default

    def __contains__(self, key: object) -> bool:
        return key in self._found

    def __getitem__(self, key: str) -> Any:
        found = self._found[key]
        if isinstance(found, msgspec.Raw):
            return read_json(bytes(found))
        return [Unread(each) for each in found]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def read_body(body: bytes) -> Any:
    """Read a body as `tolerant.read_json` does; the common ones as an `UnreadBody`.

    Common is an object whose messages are objects. In an `UnreadBody` a lone surrogate is U+FFFD
    already.
    """
    found = _unread(body)
    if found is None and (mended := with_whole_characters(body)) != body:
        found = _unread(mended)
    return read_json(body) if found is None else found


def _unread(body: bytes) -> UnreadBody | None:
    try:
        return UnreadBody(_strict.decode(body))
    except (ValueError, RecursionError):
        return None
