"""A body is read by two readers that must be one: slices of it, or the whole of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.errors import BadRequest
from proxy.wire import WireRequest
from proxy.wire.chat import request as chat_request
from proxy.wire.chat.unread import Unread, UnreadBody, read_body
from proxy.wire.openai.tolerant import read_json
from tests.support.odd_json import BODIES


def outcome(body: bytes, root: Any) -> WireRequest | str:
    try:
        return chat_request.of_values(body, root)
    except BadRequest as problem:
        return f"{problem} {problem.param}"


@given(BODIES)
@settings(max_examples=150, deadline=None)
def test_slices_say_what_the_whole_says(body: bytes) -> None:
    """Double keys, odd types, half characters, invalid bytes: whoever reads, it is one request."""
    assert outcome(body, read_body(body)) == outcome(body, read_json(body))


@given(BODIES, st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_bodies_are_refused_alike(body: bytes, data: st.DataObject) -> None:
    """A body that was cut, or in which a byte is another, is JSON for both readers or for none."""
    at = data.draw(st.integers(0, len(body) - 1))
    for damaged in (body[:at], body[:at] + b"," + body[at:], body[:at] + body[at + 1 :]):
        assert outcome(damaged, read_body(damaged)) == outcome(damaged, read_json(damaged))


@pytest.mark.parametrize(
    "odd",
    [b'"\\ud83d"', b'"a\\udc00\\ud83d\\ude00"', b'"\xff"', b"1e999", b"1" * 5000, b'"\\u0000"'],
)
def test_common_oddities_do_not_cost_a_whole_reading(odd: bytes) -> None:
    """What clients do send, such as half a character, is cut into slices too."""
    body = b'{"messages":[{"role":"user","content":%b}],"seed":%b}' % (odd, odd)
    assert isinstance(read_body(body), UnreadBody)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"3", b'{"messages":3}', b'{"messages":[3]}', b"{}"]
)
def test_uncommon_bodies_are_read_whole(body: bytes) -> None:
    """They are answered as the tolerant reader answers, which can tell what is wrong."""
    assert read_body(body) is read_json(body) or read_body(body) == read_json(body)


def test_unread_object_is_a_mapping_of_what_is_there() -> None:
    """Keys that are missing, unknown or null are told apart; values are read when asked for."""
    body = b'{"messages":[{"role":"user","content":[1, NaN_]}],"model":null}'.replace(b"NaN_", b"2")
    root = read_body(body)
    (message,) = root["messages"]
    assert isinstance(message, Unread)
    assert dict(message) == {"role": "user", "content": [1, 2]}
    assert message.joined(("tool_calls", "content", "thinking")) == b"\0[1, 2]\0"
    assert len(message) == 2
    assert (root.get("model", 1), root.get("stream", 1), "stream" in root) == (None, 1, False)
    with pytest.raises(KeyError):
        root["stream"]


def test_text_of_parts_is_read_without_what_stands_beside_it() -> None:
    """Pictures are never read; what a part says is."""
    text, picture = {"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}}
    parts = [text, picture, "b"]
    body = json.dumps({"messages": [{"role": "user", "content": parts}]}).encode()
    (message,) = read_body(body)["messages"]
    assert message.get("content") == [text, {"type": "image_url"}, "b"]
