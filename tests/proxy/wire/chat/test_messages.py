from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proxy.conversation import Message, marks
from proxy.wire.chat.messages import ChatMessage
from proxy.wire.chat.unread import UnreadBody, read_body
from tests.support.odd_json import MESSAGES

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}


def unread(*messages: Any) -> list[ChatMessage]:
    body = json.dumps({"messages": messages}).encode()
    return [ChatMessage(raw) for raw in read_body(body)["messages"]]


def test_message_is_read_when_it_is_asked_for() -> None:
    """Role and id are there at once; of a tool's result nobody needs more."""
    (message,) = unread({"role": "tool", "tool_call_id": "c1", "content": "long"})
    assert (message.role, message.call_id) == ("tool", "c1")
    assert not {"text", "calls", "reasoning"} & vars(message).keys()
    assert message.text == "long"
    assert "text" in vars(message)


def test_message_equals_a_plain_one_that_says_the_same() -> None:
    """Whether it was read yet makes no difference, whichever stands first."""
    (message,) = unread({"role": "user", "content": "hi"})
    plain = Message("user", "hi")
    assert message == plain
    assert plain == message
    assert hash(message) == hash(plain)
    assert message != Message("user", "ho")
    assert message != "hi"
    assert repr(message) == repr(plain).replace("Message(", "ChatMessage(")


def test_stamp_follows_text_and_calls_alone() -> None:
    """The same bytes have the same stamp; other text, calls or old calls have another."""
    said = {"role": "assistant", "content": "a", "tool_calls": [CALL]}
    same = {"tool_calls": [CALL], "content": "a", "role": "assistant", "reasoning": "r"}
    first, second = unread(said, same)
    assert first.stamp == second.stamp
    others = unread(
        said,
        {**said, "content": "b"},
        {**said, "tool_calls": []},
        {**said, "function_call": {"name": "x"}},
        {"role": "assistant", "content": [CALL]},
        {"role": "assistant", "tool_calls": [CALL]},
    )
    assert len({message.stamp for message in others}) == len(others)


def test_message_that_was_read_whole_has_no_stamp() -> None:
    """Its bytes are not known, so nothing may be remembered of it."""
    assert ChatMessage({"role": "assistant", "content": "a"}).stamp == b""


@given(MESSAGES, st.data())
@settings(max_examples=60, deadline=None)
def test_equal_stamps_mean_equal_marks(messages: bytes, data: st.DataObject) -> None:
    """Whatever two messages look like, one stamp never stands for two."""
    root = read_body(b'{"messages":%b}' % messages)
    assume(isinstance(root, UnreadBody))
    raws = root["messages"]
    one, other = (ChatMessage(data.draw(st.sampled_from(raws))) for _ in range(2))
    if one.stamp == other.stamp:
        assert marks(one) == marks(other)
