from __future__ import annotations

from proxy.wire.chat.continuation import ChatContinuation
from tests.support.attempts import (
    DONE,
    Client,
    chunk,
    datas,
    read,
    request,
    started,
    tool,
    wire,
)
from tests.support.grammar import answer, check_stream


def test_calls_are_sent_one_after_the_other_behind_the_text() -> None:
    """Interleaved pieces and odd indices come out in order, dense, text first."""
    client = started()
    client.attempt(
        chunk(tool(3, "", id="x", name="edit")),
        chunk(tool(7, '{"b"', id="y", name="bash")),
        chunk(tool(3, '{"a":')),
        chunk({"content": "late text"}),
        chunk(tool(7, ":2}")),
        chunk(choices=[], x_vendor=1),
        chunk(tool(3, "1}"), finish="stop"),
        DONE,
    )
    stream = client.finish()
    assert check_stream(stream, include_usage=False) == []
    assert answer(stream).calls == [
        {"id": "x", "name": "edit", "arguments": '{"a":1}'},
        {"id": "y", "name": "bash", "arguments": '{"b":2}'},
    ]
    assert answer(stream).text == "Hello late text"
    assert answer(stream).finish == "tool_calls"


def test_calls_continue_behind_calls_already_released() -> None:
    """Indices go on where the first attempt's calls ended, whatever labels it used."""
    client = Client()
    client.attempt(
        chunk({"role": "assistant"}), chunk(tool(2, "{}", id="x", name="read")), release=2
    )
    client.attempt(chunk(tool(0, "{}", id="y", name="bash")), chunk(finish="tool_calls"), DONE)
    client.finish()
    entries = [d["choices"][0]["delta"].get("tool_calls") for d in datas(client.got)]
    assert [entry[0]["index"] for entry in entries if entry] == [2, 3]


def test_signatures_stay_on_their_call() -> None:
    """Unknown keys of a call are in its first delta."""
    client = started()
    extra = {"google": {"thought_signature": "c2ln"}}
    client.attempt(
        chunk(tool(0, "{}", id="x", name="read", extra_content=extra)), chunk(finish="stop"), DONE
    )
    call = datas(client.finish())[2]["choices"][0]["delta"]["tool_calls"][0]
    assert call["extra_content"] == extra
    assert call["type"] == "function"


def test_custom_and_legacy_calls_keep_their_form() -> None:
    """A custom tool's input stays text; an old `function_call` stays what its client knows."""
    custom = {"index": 0, "id": "x", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    client = started()
    client.attempt(chunk({"tool_calls": [custom]}), chunk(finish="tool_calls"), DONE)
    sent = datas(client.finish())[2]["choices"][0]["delta"]["tool_calls"][0]
    assert sent == custom
    client = started()
    client.attempt(
        chunk({"function_call": {"name": "f", "arguments": "{"}}),
        chunk({"function_call": {"arguments": "}"}}),
        chunk(finish="function_call"),
        DONE,
    )
    last = [one["choices"][0] for one in datas(client.finish())[2:]]
    assert last[0]["delta"] == {"function_call": {"name": "f", "arguments": "{"}}
    assert last[1]["delta"] == {"function_call": {"arguments": "}"}}
    assert last[2]["finish_reason"] == "function_call"


def test_call_without_an_id_gets_none() -> None:
    """The proxy makes up no call id."""
    client = started()
    client.attempt(chunk(tool(0, "{}", name="read")), chunk(finish="stop"), DONE)
    call = datas(client.finish())[2]["choices"][0]["delta"]["tool_calls"][0]
    assert "id" not in call
    assert call["function"] == {"name": "read", "arguments": "{}"}


def test_unfinished_calls_are_cut_out_of_the_first_attempt() -> None:
    """When the stream broke, a call that never ended does not reach the client, its text does."""
    events = read(
        wire(
            chunk({"role": "assistant", "content": "see"} | tool(0, "{}", id="x", name="read")),
            chunk({"content": "more"} | tool(1, '{"a', id="y", name="edit")),
            chunk(tool(1, "b")),
            chunk({"content": "end"}),
        )
    )
    continuation = ChatContinuation(request())
    parts = [continuation.first_without(e, d, frozenset({(0, 1)})) for e, d in events]
    assert parts[0] == events[0][0].raw
    assert datas(parts[1])[0]["choices"][0]["delta"] == {"content": "more"}
    assert parts[2] == b""
    assert parts[3] == events[3][0].raw


def test_finished_call_beside_an_unfinished_one_stays() -> None:
    """Only the named call's piece is taken out of an event with several."""
    both = (
        tool(0, "{}", id="x", name="read")["tool_calls"]
        + tool(1, "{", id="y", name="ls")["tool_calls"]
    )
    ((event, decoded),) = read(b"event: chunk\n" + wire(chunk({"tool_calls": both})))
    got = ChatContinuation(request()).first_without(event, decoded, frozenset({(0, 1)}))
    assert got.startswith(b"event: chunk\ndata: ")
    assert datas(got)[0]["choices"][0]["delta"]["tool_calls"] == both[:1]


def test_old_form_call_stays_beside_one_that_is_cut() -> None:
    """Each form of call is cut for itself."""
    delta = tool(0, "{", id="x", name="read") | {"function_call": {"name": "f", "arguments": "{}"}}
    ((event, decoded),) = read(wire(chunk(delta)))
    got = ChatContinuation(request()).first_without(event, decoded, frozenset({(0, 0)}))
    assert datas(got)[0]["choices"][0]["delta"] == {"function_call": delta["function_call"]}


def test_piece_that_brings_nothing_belongs_to_its_call() -> None:
    """A repeat of an id, or of an index, without arguments is cut along with its call."""
    events = read(
        wire(
            chunk(tool(0, "{}", id="x", name="read")),
            chunk(tool(1, "{", id="y", name="edit")),
            chunk(tool(0, "", id="x", name="read")),
            chunk(tool(1, "")),
        )
    )
    continuation = ChatContinuation(request())
    parts = [continuation.first_without(e, d, frozenset({(0, 1)})) for e, d in events]
    assert [part == event.raw for part, (event, _) in zip(parts, events, strict=True)] == [
        True,
        False,
        True,
        False,
    ]


def test_call_that_flowed_live_is_still_known_when_the_stream_breaks() -> None:
    """A new name behind complete arguments is a new call, though the first went out untouched."""
    events = read(
        wire(
            chunk(tool(0, "{", name="read") | {"role": "assistant"}),
            chunk(tool(0, "}")),
            chunk(tool(0, "{", name="edit")),
            chunk(tool(0, "more")),
        )
    )
    continuation = ChatContinuation(request())
    for event, decoded in events[:2]:
        assert continuation.first(event, decoded) == event.raw
    cut = frozenset({(0, 1)})
    assert [continuation.first_without(e, d, cut) for e, d in events[2:]] == [b"", b""]


def test_no_empty_choices_behind_a_call() -> None:
    """Some clients stop collecting calls at a chunk with empty choices: none is sent there."""
    client = Client()
    client.attempt(chunk({"role": "assistant"} | tool(0, "{}", id="x", name="read")))
    assert client.attempt(chunk(choices=[], prompt_filter_results=[1])) == b""


def test_character_cut_over_two_pieces_of_arguments_stays_one() -> None:
    """Each piece is written for itself, so none may end on half a character."""
    client = started()
    client.attempt(
        chunk(tool(0, '{"a":"', id="x", name="read")),
        b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":'
        b'{"arguments":"\\ud83d"}}]}}]}\n\n',
        b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":'
        b'{"arguments":"\\ude00\\"}"}}]}}]}\n\n',
        chunk(finish="tool_calls"),
        DONE,
    )
    assert answer(client.finish()).calls[0]["arguments"] == '{"a":"\U0001f600"}'
