from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.conversation import Call
from proxy.quirks import PLAIN, Profile
from proxy.wire import AttemptMessage
from proxy.wire.chat.decoder import ChatDecoder
from proxy.wire.chat.render import document, error_body, partial, refused, user
from proxy.wire.chat.request import read

REPLAY = Profile(replay_reasoning=True)


def message_of(**message: Any) -> AttemptMessage:
    """Read a finished message as the upstream would send it."""
    decoder = ChatDecoder(PLAIN)
    decoder.document(json.dumps({"choices": [{"message": message}]}).encode())
    decoder.close(broken=False)
    return decoder.message(0)


def call(name: str = "edit", arguments: str = "{}", **keys: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **keys}


def rendered(message: AttemptMessage, *results: str, profile: Profile = PLAIN) -> list[Any]:
    return [json.loads(one) for one in refused(message, results, profile)]


def test_own_messages_are_compact() -> None:
    """No white space, no escapes that are not needed, no lone halves."""
    assert user("é\ud83d") == '{"role":"user","content":"é\ufffd"}'.encode()
    assert partial("a\n") == b'{"role":"assistant","content":"a\\n"}'


def test_refused_message_has_all_calls_and_a_result_each() -> None:
    """The results follow the message in the order of its calls."""
    calls = [call(id="a", extra_content={"g": "c2ln"}), call("run", '{"x": 1}', id="b")]
    got = rendered(message_of(content="so", tool_calls=calls), "refused", "not run")
    assert got == [
        {"role": "assistant", "content": "so", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "refused"},
        {"role": "tool", "tool_call_id": "b", "content": "not run"},
    ]


def test_call_without_id_gets_one_that_never_changes() -> None:
    """The id is the same at every rendering, differs between calls, and has nine characters."""
    message = message_of(tool_calls=[call(), call()])
    first, second = rendered(message, "r", "n"), rendered(message, "r", "n")
    assert first == second
    ids = [one["id"] for one in first[0]["tool_calls"]]
    assert [one["tool_call_id"] for one in first[1:]] == ids
    assert len(set(ids)) == 2
    assert all(len(one) == 9 and one.isalnum() for one in ids)
    assert message.calls[0].id is None


@pytest.mark.parametrize("text", ["", " \n"])
def test_blank_text_beside_calls_is_null(text: str) -> None:
    """Upstreams refuse blank text in an assistant message."""
    got = rendered(message_of(content=text, tool_calls=[call(id="a")]), "r")
    assert got[0]["content"] is None


@pytest.mark.parametrize("arguments", ["", '{"a":"cut', "words"])
def test_broken_arguments_are_repaired(arguments: str) -> None:
    """A conversation with arguments that are no JSON would be refused again and again."""
    got = rendered(message_of(tool_calls=[call("x", arguments, id="a", seal="s")]), "r")
    assert got[0]["tool_calls"] == [call("x", "{}", id="a", seal="s")]


def test_custom_call_keeps_its_input() -> None:
    """Raw input is no JSON and need not be."""
    custom = {"id": "a", "type": "custom", "custom": {"name": "p", "input": "*** Begin"}}
    got = rendered(message_of(tool_calls=[custom]), "r")
    assert got[0]["tool_calls"] == [custom]


def test_reasoning_goes_back_only_where_it_must() -> None:
    """The profile decides; what is forbidden stays out even if it is asked for."""
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    message = message_of(
        reasoning_content="why", reasoning_details=details, tool_calls=[call(id="a")]
    )
    replayed = rendered(message, "r", profile=REPLAY)[0]
    assert (replayed["reasoning_content"], replayed["reasoning_details"]) == ("why", details)
    both = Profile(replay_reasoning=True, forbid_reasoning=True)
    for profile in (PLAIN, both):
        assert set(rendered(message, "r", profile=profile)[0]) == {"role", "content", "tool_calls"}


def test_call_of_the_older_api_is_answered_in_its_form() -> None:
    """One `function_call` goes back as such, its result under the function's name."""
    message = message_of(function_call={"name": "edit", "arguments": "{"})
    assert rendered(message, "r") == [
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "edit", "arguments": "{}"},
        },
        {"role": "function", "name": "edit", "content": "r"},
    ]


def test_old_and_new_calls_together_go_back_in_the_new_form() -> None:
    """A message in both forms has one list of calls."""
    message = message_of(tool_calls=[call(id="a")], function_call={"name": "x", "arguments": "{}"})
    got = rendered(message, "r", "n")
    assert [one["type"] for one in got[0]["tool_calls"]] == ["function", "function"]
    assert [one["role"] for one in got] == ["assistant", "tool", "tool"]


def test_results_must_match_the_calls() -> None:
    """A call without a result would poison the conversation."""
    with pytest.raises(ValueError, match="zip"):
        refused(message_of(tool_calls=[call(id="a"), call(id="b")]), ["r"], PLAIN)


def test_message_made_by_hand_is_rendered() -> None:
    """Raw calls and neutral calls are aligned; the id of the neutral one counts."""
    raw = b'{"type":"function","function":{"name":"x","arguments":"{}"}}'
    got = rendered(AttemptMessage("", "", (Call("a", "x", "{}"),), (raw,), b"{}"), "r")
    assert got[0]["tool_calls"][0]["id"] == "a"


def test_document_is_a_whole_answer() -> None:
    """A client of the non-streaming API finds every key that it reads."""
    request = read(b'{"model":"m","messages":[{}]}')
    got = json.loads(document("withheld", request))
    assert got["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "withheld"},
            "finish_reason": "stop",
        }
    ]
    assert (got["object"], got["model"], got["usage"]["total_tokens"]) == (
        "chat.completion",
        "m",
        0,
    )
    assert got["id"].startswith("chatcmpl-")


def test_error_body_has_the_shape_of_the_api() -> None:
    """Message, type and code stand where every client looks."""
    error = json.loads(error_body("gone", "ttsr_error", "stopping"))["error"]
    assert (error["message"], error["type"], error["code"]) == ("gone", "ttsr_error", "stopping")
