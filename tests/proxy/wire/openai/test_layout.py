from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from proxy.wire.openai import spans
from proxy.wire.openai.layout import value_of
from proxy.wire.openai.tolerant import NotJson, read_json
from tests.support.odd_json import BODIES


def message_spans(body: bytes) -> list[tuple[int, int]]:
    """Where the messages stand."""
    found = value_of(body, "messages")[1]
    assert found is not None
    return found


@given(BODIES)
@settings(max_examples=100, deadline=None)
def test_messages_stand_where_a_search_finds_them(body: bytes) -> None:
    """Double keys, any spacing, brackets and halves of characters in strings: one answer."""
    root = read_json(body)
    if isinstance(root, NotJson) or not isinstance(root["messages"], list):
        return
    found = message_spans(body)
    assert value_of(body, "messages") == spans.value_of(body, "messages")
    if "model" in root:
        assert value_of(body, "model") == spans.value_of(body, "model")
    assert repr([read_json(body[slice(*span)]) for span in found]) == repr(root["messages"])


@pytest.mark.parametrize("front", [b"", b"\xef\xbb\xbf", b" \n"])
def test_what_stands_in_front_of_the_body_is_counted(front: bytes) -> None:
    """A byte order mark, which no strict reader takes, moves the places and nothing else."""
    assert message_spans(front + b'{"messages":[{}]}') == [(len(front) + 13, len(front) + 15)]


@pytest.mark.parametrize("body", [b"{}", b'{"x":3}', b"[]", b""])
def test_body_without_messages_is_refused(body: bytes) -> None:
    """There is nothing to edit."""
    with pytest.raises(ValueError, match=r"has no messages|no array or object|no object"):
        value_of(body, "messages")


def test_copy_of_the_messages_is_not_taken_for_them() -> None:
    """The same bytes may stand elsewhere in the body, before and behind."""
    messages = [{"role": "user", "content": "hi"}]
    body = json.dumps({"metadata": {"messages": messages}, "messages": messages, "x": messages})
    ((start, _),) = message_spans(body.encode())
    assert start == body.index("hi", body.index("hi") + 2) - len('{"role": "user", "content": "')
