from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.quirks import Profile
from tests.support.attempts import (
    DONE,
    SEAM,
    USAGE,
    Client,
    attempts,
    called_of,
    chunk,
    datas,
    prose_of,
    read,
    started,
    text_of,
    tool,
    wire,
)
from tests.support.corpus import Case, cases
from tests.support.grammar import answer, check_stream


def test_first_attempt_goes_out_as_it_came() -> None:
    """Every byte of the first attempt reaches the client, odd ones too, and nothing is added."""
    stream = b'\xef\xbb\xbf: hi\r\n\r\nid: 3\r\ndata:{ "a" :1}\r\n\r\n' + wire(
        chunk({"content": "x"}), chunk(finish="stop"), DONE
    )
    client = Client()
    client.attempt(stream)
    assert client.finish() == stream


def test_unknown_keys_stay_and_a_null_error_goes() -> None:
    """What nobody reads is passed on; `error: null` would fail some clients and is not."""
    client = started()
    sent = chunk({"content": "x", "vendor": [1]}, error=None, service_tier="flex", usage=None)
    sent["choices"][0]["logprobs"] = {"content": [{"logprob": float("-inf")}]}
    sent["choices"][0]["vendor_flag"] = True
    (got,) = datas(client.attempt(sent))
    assert "error" not in got
    assert "usage" not in got
    assert got["service_tier"] == "flex"
    assert got["choices"][0]["delta"] == {"content": "x", "vendor": [1]}
    assert got["choices"][0]["vendor_flag"] is True
    assert got["choices"][0]["logprobs"] == {"content": [{"logprob": None}]}


@pytest.mark.parametrize(
    "odd",
    [
        {"id": "b", "object": "chat.completion.chunk", "x_flag": 1},
        {"id": "b", "choices": None, "x_flag": 1},
        {"id": "b", "choices": [None], "x_flag": 1},
    ],
)
def test_choices_are_always_an_array(odd: Any) -> None:
    """A chunk without choices gets an empty array of them."""
    (got,) = datas(started().attempt(odd))
    assert got["choices"] == []
    assert got["id"] == "chatcmpl-a"


@pytest.mark.parametrize(
    "empty",
    [
        b": comment\n",
        b"data:\n\n",
        b"data: nonsense\n\n",
        b"event: ping\ndata: {}\n\n",
        b"id: 4\nretry: 10\n\n",
        wire(chunk()),
        wire(chunk({"role": "assistant", "content": None, "refusal": None})),
        wire(chunk(choices=[])),
    ],
)
def test_events_that_say_nothing_are_dropped(empty: bytes) -> None:
    """Nothing of a later attempt goes out that would tell the client nothing."""
    client = started()
    got = client.attempt(empty)
    assert datas(got) == []
    assert b"id:" not in got
    assert b"retry:" not in got


def test_upstream_comment_becomes_a_keep_alive() -> None:
    """A comment shows life to the client; its words, which may harm, are not repeated."""
    assert started().attempt(b": ping - 2026\n\n") == b": keep-alive\n\n"


def test_finish_reason_is_one_and_the_last() -> None:
    """Two finish reasons, and text between them, come out as one behind the text."""
    client = started()
    client.attempt(
        chunk({"content": "a"}, finish="stop"),
        chunk({"content": "b"}),
        chunk(finish="length", x_flag=None),
        DONE,
    )
    stream = client.finish()
    assert check_stream(stream, include_usage=False) == []
    assert answer(stream).text == "Hello ab"
    assert answer(stream).finish == "length"


def test_finish_reason_of_calls_without_calls_becomes_stop() -> None:
    """A client told of calls that never came would wait for them."""
    client = started()
    client.attempt(chunk(finish="tool_calls"), DONE)
    assert answer(client.finish()).finish == "stop"


def test_finish_reason_keeps_the_keys_beside_it() -> None:
    """What an upstream says along with the finish reason goes out with it."""
    ending = chunk(finish="stop", x_groq={"id": "r"})
    ending["choices"][0]["stop_reason"] = 7
    client = started()
    client.attempt(ending, DONE)
    got = datas(client.finish())[-1]
    assert got["x_groq"] == {"id": "r"}
    assert got["choices"] == [{"index": 0, "stop_reason": 7, "delta": {}, "finish_reason": "stop"}]


@pytest.mark.parametrize(
    "where",
    [
        [chunk(choices=[], usage=USAGE)],
        [chunk(finish="stop", usage=USAGE)],
        [chunk({"content": "x"}, usage={"total_tokens": 1}), chunk(usage=USAGE)],
        [chunk(choices=[{"index": 0, "delta": {}, "usage": USAGE}])],
    ],
)
def test_last_usage_follows_the_finish_reason_if_asked_for(where: list[Any]) -> None:
    """Wherever the upstream puts its usage, the client gets the last, once, at the end."""
    for asked in (True, False):
        client = started(include_usage=asked)
        client.attempt(chunk({"content": "y"}), *where, chunk(finish="stop"), DONE)
        stream = client.finish()
        assert check_stream(stream, include_usage=asked) == []
        assert answer(stream).usage == (USAGE if asked else None)


def test_usage_of_an_abandoned_attempt_is_not_the_answers() -> None:
    """Only the accepted attempt's usage is told."""
    client = started(include_usage=True)
    client.attempt(chunk({"content": "x"}, usage=USAGE))
    client.attempt(chunk(finish="stop"), DONE)
    assert answer(client.finish()).usage is None


def test_end_mark_needs_a_finish_reason_or_one_from_upstream() -> None:
    """An upstream that ends without either is not made to look complete."""
    for ending, done in (([chunk(finish="stop")], True), ([DONE], True), ([], False)):
        client = started()
        client.attempt(chunk({"content": "x"}), *ending)
        assert answer(client.finish()).done is done


def test_reasoning_is_hidden_once_text_was_released() -> None:
    """Behind text, reasoning would stand in the middle of the answer."""
    client = started()
    client.attempt(
        chunk({"reasoning_content": "hm"}),
        chunk({"reasoning": "hm", "reasoning_details": [{"text": "hm"}], "content": "x"}),
        chunk({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "y"}]}),
    )
    assert b"hm" not in client.got
    assert answer(client.got).text == "Hello xy"


def test_inline_reasoning_is_hidden_too() -> None:
    """A think block in the content is reasoning where the profile says so."""
    client = Client(profile=Profile(inline_think=True))
    client.attempt(chunk({"role": "assistant", "content": "Hello "}))
    client.attempt(chunk({"content": "<thi"}), chunk({"content": "nk>hm</think>x"}))
    assert answer(client.got).text == "Hello x"


def test_reasoning_is_shown_while_no_text_was_released() -> None:
    """Reasoning after reasoning is what a client expects."""
    client = Client()
    client.attempt(chunk({"role": "assistant", "reasoning_content": "one "}))
    client.attempt(chunk({"reasoning_content": "two"}), chunk({"content": "x"}))
    client.attempt(chunk({"reasoning_content": "three"}))
    assert answer(client.got).reasoning == "one two"


def test_seam_comes_once_and_only_in_front_of_something() -> None:
    """The seam waits for what it joins; an attempt that says nothing leaves it to the next."""
    client = started()
    assert client.attempt(chunk({"role": "assistant"}), seam="\n```\n\n") == b""
    assert client.attempt(chunk({"content": "x"}), seam="\n```\n\n") != b""
    client.attempt(chunk({"content": "y"}))
    assert answer(client.got).text == "Hello \n```\n\nxy"


def test_seam_stays_away_without_text() -> None:
    """Calls and a finish reason are no text: nothing needs to be set apart."""
    for last in (tool(0, "{}", id="x", name="read"), {}):
        client = started()
        client.attempt(chunk(last), chunk(finish="stop"), DONE, seam="\n```\n\n")
        stream = client.finish()
        assert check_stream(stream, include_usage=False) == []
        assert answer(stream).text == "Hello "


def test_reasoning_in_content_is_not_text() -> None:
    """A content part, or a think block, that is reasoning leaves the next attempt's visible."""
    part = {"type": "thinking", "thinking": "one"}
    for profile, content in ((Profile(), [part]), (Profile(inline_think=True), "<think>one")):
        client = Client(profile=profile)
        client.attempt(chunk({"role": "assistant"}), release=0)
        client.attempt(chunk({"content": content}))
        assert b"two" in client.attempt(chunk({"reasoning_content": "two"}))


def test_text_beside_an_error_is_not_lost() -> None:
    """An event may bring its last words together with the failure."""
    client = started()
    client.attempt(chunk({"content": "x"}, finish="error", error={"message": "busy"}))
    assert answer(client.got).text == "Hello x"
    assert answer(client.got).errors


def test_error_of_ours_has_no_end_mark() -> None:
    """The event says what happened, and the stream does not pretend to be whole."""
    got = started().continuation.error("upstream is gone", "upstream_unreachable")
    assert got == (
        b'data: {"error":{"message":"upstream is gone","type":"ttsr_error",'
        b'"code":"upstream_unreachable"}}\n\n'
    )


def test_withheld_ends_the_message_in_good_order() -> None:
    """The client reads which call stayed here as the assistant's last words."""
    client = started(include_usage=True)
    client.attempt(chunk({"content": "x"}, usage=USAGE), chunk(tool(0, "{}", id="x", name="rm")))
    client.got += client.continuation.withheld("A call was withheld.")
    assert check_stream(client.got, include_usage=True) == []
    assert answer(client.got).text == "Hello x\n\nA call was withheld."
    assert answer(client.got).calls == []
    assert answer(client.got).finish == "stop"
    assert answer(client.got).usage == USAGE
    assert client.finish() == client.got


def test_withheld_is_well_formed_with_nothing_released() -> None:
    """The message is a whole answer, under the name that upstream gave it where it was seen."""
    client = Client()
    client.got = client.continuation.withheld("No.")
    assert check_stream(client.got, include_usage=False) == []
    assert {one["model"] for one in datas(client.got)} == {"asked-model"}
    client = Client()
    for event, _ in read(wire(chunk(tool(0, "{}", id="x", name="rm")))):
        client.continuation.unreleased(event)
    client.got = client.continuation.withheld("No.")
    assert check_stream(client.got, include_usage=False) == []
    assert {one["id"] for one in datas(client.got)} == {"chatcmpl-a"}
    assert answer(client.got).text == "No."


def test_withheld_behind_a_seam_needs_no_second_blank_line() -> None:
    """The seam has already opened a paragraph."""
    client = started()
    client.attempt(chunk({"role": "assistant"}), seam=SEAM)
    client.got += client.continuation.withheld("No.")
    assert answer(client.got).text == "Hello \n\nNo."


def test_broken_later_attempt_gives_its_finished_calls_and_no_end() -> None:
    """What was whole when the upstream broke is handed on; nothing makes it look complete."""
    client = started()
    client.attempt(
        chunk(tool(0, "{}", id="x", name="read")), chunk(tool(1, "{", id="y", name="edit"))
    )
    client.got += client.continuation.broken(frozenset({(0, 1)}))
    assert [call["id"] for call in answer(client.got).calls] == ["x"]
    assert answer(client.got).finish is None
    assert not answer(client.got).done
    assert client.finish() == client.got


def test_nothing_follows_an_end() -> None:
    """A stream that was ended, with a message or an error, is not ended again."""
    client = started()
    client.attempt(chunk({"content": "x"}, finish="stop"), DONE)
    client.finish()
    assert client.continuation.finish() == b""
    assert client.continuation.withheld("No.") == b""
    assert client.continuation.broken(frozenset()) == b""


def test_answer_ends_at_the_first_end_mark() -> None:
    """What an upstream sends behind its end mark is no part of the answer."""
    client = Client()
    client.attempt(chunk({"role": "assistant"}), release=0)
    client.attempt(
        chunk({"content": "x"}), chunk(finish="stop"), DONE, chunk({"content": "again"}), DONE
    )
    stream = client.finish()
    assert check_stream(stream, include_usage=False) == []
    assert answer(stream).text == "x"


def test_held_event_that_is_no_chunk_names_nothing() -> None:
    """Of what stays here, only chunks say who answers."""
    client = Client()
    for event, _ in read(b"data: nonsense\n\n"):
        client.continuation.unreleased(event)
    assert {one["id"] for one in datas(client.continuation.withheld("No."))} == {"chatcmpl-ttsr"}


def test_finish_reason_that_the_client_has_is_not_repeated() -> None:
    """An attempt cut behind its finish reason has already told the only one."""
    client = Client()
    client.attempt(chunk({"role": "assistant", "content": "x"}, finish="stop"))
    client.attempt(chunk({"content": "y"}, finish="stop"), DONE, seam=SEAM)
    got = client.finish()
    assert answer(got).done
    assert got.count(b'"stop"') == 1


STREAMS = [
    one
    for one in cases()
    if one.body.lstrip().startswith((b"data", b":", b"id", b"event"))
    and one.name != "two_choices_interleaved"  # more than one choice is never continued
]
NAMELESS = {"tool_id_never_sent", "tool_name_empty_forever"}


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.name)
def test_every_kind_of_upstream_continues_in_one_grammar(case: Case, asked: bool) -> None:  # noqa: FBT001 - a parameter
    """Whatever form an upstream's stream has, its continuation has the one that clients read."""
    client = started(include_usage=asked)
    client.profile = case.profile
    client.attempt(case.body, seam=SEAM)
    wrong = check_stream(client.finish(), include_usage=asked, complete=False)
    nameless = [fault for fault in wrong if "lacks" in fault]
    assert wrong == nameless
    assert case.name in NAMELESS or not nameless


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.name)
def test_client_reads_what_was_judged(case: Case) -> None:
    """Text and calls behind the seam are those that the decoder made of the upstream's stream."""
    client = started()
    client.profile = case.profile
    client.attempt(case.body, seam=SEAM)
    got, message = answer(client.finish()), client.decoder.message(0)
    assert got.text == "Hello " + (SEAM + message.text if message.text else "")
    if not got.errors:
        calls = [(call["id"], call["name"], call["arguments"]) for call in got.calls]
        assert calls == [(call.id, call.name, call.arguments) for call in message.calls]


@given(st.data(), st.booleans())
@settings(max_examples=150)
def test_any_attempts_make_one_legal_stream(data: st.DataObject, include_usage: bool) -> None:  # noqa: FBT001 - drawn
    """However attempts are cut and shaped, the client reads one answer: what was released."""
    first = data.draw(attempts(regular=True))
    client, text = Client(include_usage), ""
    prose = prose_of(first)
    released = data.draw(st.integers(0, len(prose)))
    client.attempt(*prose, release=released)
    text = text_of(prose[:released])
    for _ in range(data.draw(st.integers(0, 2))):
        prose = prose_of(data.draw(attempts()))
        released = data.draw(st.integers(0, len(prose)))
        seam, said = (SEAM if text else ""), text_of(prose[:released])
        client.attempt(*prose, release=released, seam=seam)
        text += seam + said if said else ""
    last = data.draw(attempts())
    seam = SEAM if text else ""
    client.attempt(*last, seam=seam)
    stream = client.finish()
    got = answer(stream)
    assert check_stream(stream, include_usage=include_usage) == []
    said = text_of(last)
    assert got.text == text + (seam + said if said else "")
    assert got.calls == called_of(last)
    assert got.usage == (USAGE if include_usage else None)


@pytest.mark.parametrize("seam", ["", SEAM])
def test_our_first_event_begins_behind_a_whole_line_end(seam: str) -> None:
    """The LF of a CRLF may have been withheld; readers of lines by LF would lose our event."""
    client = Client()
    stream = wire(chunk({"role": "assistant", "content": "x"}), chunk({"content": "y"}))
    client.attempt(stream.replace(b"\n", b"\r\n"), release=1)
    client.attempt(chunk({"content": "z"}), seam=seam)
    lines = client.got.split(b"\n")
    assert all(line.startswith(b"data: ") for line in lines if line.strip())
    assert "".join(one["choices"][0]["delta"]["content"] for one in datas(client.got)) == (
        "x" + seam + "z"
    )


def test_calls_of_a_whole_message_stay_apart() -> None:
    """A later attempt may be one message with calls that share an id: the client gets them all."""
    client = started()
    call = {"id": "call_0", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    message = {"index": 0, "message": {"role": "assistant", "tool_calls": [call, call]}}
    client.attempt(chunk() | {"choices": [message]}, chunk(finish="tool_calls"), DONE)
    assert [(one["name"], one["arguments"]) for one in called_of(datas(client.finish()))] == [
        ("x", "{}"),
        ("x", "{}"),
    ]
