from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.conversation import Call, Message
from proxy.errors import BadRequest
from proxy.views import Insert
from proxy.wire import WireRequest
from proxy.wire.chat.request import read, spliced

HELLO = {"role": "user", "content": "hello"}


def request(*messages: Any, **keys: Any) -> WireRequest:
    return read(json.dumps({"model": "m", "messages": list(messages) or [HELLO], **keys}).encode())


def message(raw: dict[str, Any]) -> Message:
    return request(raw).messages[0]


def test_plain_request_is_read() -> None:
    """What is not said has the value that the API gives it."""
    body = json.dumps({"model": "m", "messages": [HELLO]}).encode()
    assert read(body) == WireRequest(
        body=body, model="m", stream=False, choices=1, include_usage=False, tools=(),
        forced_tool=False, structured=False, prefix=False, messages=(Message("user", "hello"),),
    )  # fmt: skip


def test_options_are_read() -> None:
    """Stream, usage and the number of choices are taken where they are well-formed."""
    full = request(stream=True, n=3, stream_options={"include_usage": True})
    assert (full.stream, full.choices, full.include_usage) == (True, 3, True)
    odd = request(stream="yes", n="3", stream_options=[1], model=None)
    assert (odd.stream, odd.choices, odd.include_usage, odd.model) == (False, 1, False, "")
    assert request(n=0).choices == request(n=True).choices == 1


@pytest.mark.parametrize(
    ("body", "said", "param"),
    [
        (b"", "not JSON", None),
        (b"{", "not JSON", None),
        (b"[]", "not an object", None),
        (b"null", "not an object", None),
        (b"{}", "messages is missing", "messages"),
        (b'{"messages":null}', "messages is not an array", "messages"),
        (b'{"messages":{}}', "messages is not an array", "messages"),
        (b'{"messages":[]}', "messages is empty", "messages"),
        (b'{"messages":[{},"a"]}', r"messages\[1\] is not an object", "messages[1]"),
    ],
)
def test_unreadable_request_says_what_is_wrong(body: bytes, said: str, param: str | None) -> None:
    """The message and the field name the fault."""
    with pytest.raises(BadRequest, match=said) as caught:
        read(body)
    assert caught.value.param == param


def test_lenient_json_is_read() -> None:
    """A mark in front, NaN, lone halves, invalid bytes and double keys are no reason to refuse."""
    got = read(
        b'\xef\xbb\xbf{"model":"a","model":"b","temperature":NaN,'
        b'"messages":[{"role":"user","content":"x\\ud83d\xff"}]}'
    )
    assert got.model == "b"
    assert got.messages == (Message("user", "x\ufffd\ufffd"),)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"role": "critic", "content": None}, Message("critic", "")),
        ({}, Message("", "")),
        ({"role": "user", "content": 5}, Message("user", "")),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}, "b"]},
         Message("user", "ab")),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "r"}, {"text": "a"}]},
         Message("assistant", "a", "r")),
        ({"role": "assistant", "content": "a", "reasoning_content": "r"},
         Message("assistant", "a", "r")),
        ({"role": "tool", "content": "a", "tool_call_id": "c"},
         Message("tool", "a", call_id="c")),
        ({"role": "tool", "content": "a", "tool_call_id": 5}, Message("tool", "a")),
    ],
)  # fmt: skip
def test_message_is_read_whatever_its_form(raw: dict[str, Any], expected: Message) -> None:
    """Unknown roles and parts are left to the upstream; text and reasoning are gathered."""
    assert message(raw) == expected


def test_calls_are_read_in_all_shapes() -> None:
    """Function, custom and old calls, arguments as text or object, ids missing or empty."""
    calls = [
        {"id": "a", "function": {"name": "x", "arguments": '{"p": 1}'}},
        {"id": "", "type": "custom", "custom": {"name": "y", "input": "raw"}},
        {"function": {"name": "z", "arguments": {"p": [1]}}},
        {"id": "b", "function": None},
        "odd",
    ]
    got = message({"role": "assistant", "tool_calls": calls, "function_call": {"name": "old"}})
    assert got.calls == (
        Call("a", "x", '{"p": 1}'),
        Call(None, "y", "raw"),
        Call(None, "z", '{"p":[1]}'),
        Call("b", "", ""),
        Call(None, "old", ""),
    )
    single = message({"tool_calls": {"id": "a", "function": {"name": "x"}}, "function_call": None})
    assert single.calls == (Call("a", "x", ""),)


def test_declared_tools_are_named() -> None:
    """Functions, custom tools and old functions, each name once; the upstream's own are none."""
    tools = [
        {"type": "function", "function": {"name": "a"}},
        {"type": "custom", "custom": {"name": "b"}},
        {"type": "web_search"},
        {"name": "c"},
        {"type": "function", "function": {"name": "a"}},
        7,
    ]
    assert request(tools=tools, functions=[{"name": "d"}]).tools == ("a", "b", "c", "d")
    assert request(tools=None, functions={}).tools == ()


@pytest.mark.parametrize(
    ("keys", "forced"),
    [
        ({"tool_choice": "auto"}, False),
        ({"tool_choice": "none"}, False),
        ({"tool_choice": None}, False),
        ({"tool_choice": {"type": "auto"}}, False),
        ({"tool_choice": "required"}, True),
        ({"tool_choice": "any"}, True),
        ({"tool_choice": {"type": "function", "function": {"name": "a"}}}, True),
        ({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}}, False),
        ({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required"}}}, True),
        ({"tool_choice": {"type": "allowed_tools", "mode": "required"}}, True),
        ({"function_call": {"name": "a"}}, True),
        ({"function_call": "auto"}, False),
    ],
)
def test_forced_tool_is_told(keys: dict[str, Any], forced: bool) -> None:  # noqa: FBT001 - a case's value
    """An answer that must be a call is told from one that may be."""
    assert request(**keys).forced_tool is forced


@pytest.mark.parametrize("key", ["tool_choice", "function_call"])
def test_tools_that_may_not_be_called_are_told(key: str) -> None:
    """They are declared all the same: it keeps the beginning of the prompt as it was."""
    assert request(**{key: "none"}).tools_off
    assert not request(**{key: "auto"}).tools_off
    assert not request().tools_off


@pytest.mark.parametrize(
    "keys",
    [
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {}}},
        {"response_format": {"type": "structural_tag"}},
        {"grammar": "root ::= x"},
        {"guided_json": {"type": "object"}},
        {"guided_choice": ["a"]},
        {"structured_outputs": {"regex": "a"}},
        {"nvext": {"guided_regex": "a"}},
        {"json_schema": {"type": "object"}},
    ],
)
def test_structured_output_is_told(keys: dict[str, Any]) -> None:
    """JSON formats and every server's way to give a grammar are structured, and no prefix."""
    got = request(**keys)
    assert (got.structured, got.prefix) == (True, False)


@pytest.mark.parametrize(
    "keys",
    [
        {"response_format": {"type": "text"}},
        {"response_format": None},
        {"response_format": {"type": 5}},
        {"guided_json": None, "grammar": ""},
        {"nvext": "odd"},
    ],
)
def test_free_output_is_told(keys: dict[str, Any]) -> None:
    """A format of text, and keys that say nothing, leave the answer free."""
    assert not request(**keys).structured


def test_prefix_completion_is_told() -> None:
    """A last assistant message, its flag, or the server's switch asks for a continuation."""
    for got in (
        request(HELLO, {"role": "assistant", "content": "{"}),
        request(HELLO, {"role": "model", "content": "{", "prefix": True}),
        request(continue_final_message=True),
    ):
        assert (got.prefix, got.structured) == (True, True)
    assert not request({"role": "assistant", "content": "a"}, HELLO).prefix


def test_no_edits_give_the_same_body() -> None:
    """Without edits the very object comes back, so nothing can have changed."""
    body = b'{ "messages" : [ {} ] }'
    assert spliced(read(body), ()) is body
    assert spliced(read(body), [Insert(1, (b"1",))]) == b'{ "messages" : [ {},1 ] }'


KEYS = st.sampled_from(
    [
        "messages", "model", "stream", "n", "tools", "functions", "function", "custom", "name",
        "tool_choice", "function_call", "allowed_tools", "mode", "type", "response_format", "role",
        "content", "text", "thinking", "tool_calls", "arguments", "id", "tool_call_id", "nvext",
        "reasoning_details", "stream_options", "prefix",
    ]
)  # fmt: skip
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "a", "text", "\ud83d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, ODD, max_size=6), st.lists(st.dictionaries(KEYS, ODD), max_size=3))
@settings(max_examples=120, deadline=None)
def test_no_shape_of_request_raises_anything_else(
    keys: dict[str, Any], messages: list[Any]
) -> None:
    """Any object with messages is read, and what was read can be encoded."""
    body = json.dumps({**keys, "messages": messages}).encode()
    if not messages:
        with pytest.raises(BadRequest):
            read(body)
        return
    repr(read(body)).encode()
