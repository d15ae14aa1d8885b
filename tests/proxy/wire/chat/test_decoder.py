from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.quirks import PLAIN, Profile
from proxy.sse import SseEvent, SseReader
from proxy.wire import Decoded
from proxy.wire.chat.decoder import ChatDecoder
from rules_engine.events import (
    Broken,
    Finished,
    FinishReason,
    OpenCharacter,
    TextDelta,
    ThinkingDelta,
    ToolArguments,
    ToolClosed,
    ToolNamed,
    ToolOpened,
    TurnEvent,
)
from tests.support.chunks import byte_by_byte, random_splits
from tests.support.corpus import Case, case, cases


def chunk(delta: Any = None, *, index: Any = 0, **keys: Any) -> SseEvent:
    choice = {"index": index, **({} if delta is None else {"delta": delta}), **keys}
    return event({"choices": [choice]})


def event(value: Any, name: str = "message") -> SseEvent:
    data = value if isinstance(value, str) else json.dumps(value)
    return SseEvent(b"", data, name)


def decoded(*events: SseEvent, profile: Profile = PLAIN) -> list[TurnEvent]:
    """Decode the events and close in an orderly way; the end itself is left out."""
    decoder = ChatDecoder(profile)
    out = [one for given_ in events for one in decoder.decode(given_).events]
    closing = decoder.close(broken=False)
    assert closing[-1] == Finished()
    return [*out, *closing[:-1]]


class Answer:
    """An answer rebuilt from what the decoder gave out."""

    def __init__(self, one: Case, reads: Sequence[bytes]) -> None:
        self.decoder = ChatDecoder(one.profile)
        self.read = self._read(one, reads)
        self.events = [e for d in self.read for e in d.events]
        self.events += self.decoder.close(broken=False)

    def _read(self, one: Case, reads: Sequence[bytes]) -> list[Decoded]:
        if one.kind != "stream":
            return [self.decoder.document(one.body)]
        reader = SseReader()
        return [self.decoder.decode(e) for part in reads for e in reader.feed(part)]

    def choice(self, choice: int) -> dict[str, Any]:
        mine = [
            e for e in self.events if not isinstance(e, Finished | Broken) and e.choice == choice
        ]
        reasons = [e.reason for e in mine if isinstance(e, FinishReason)]
        return {
            "text": "".join(e.text for e in mine if isinstance(e, TextDelta)),
            "reasoning": "".join(e.text for e in mine if isinstance(e, ThinkingDelta)),
            "tool_calls": self._calls(mine, choice),
            "finish_reason": reasons[-1] if reasons else None,
        }

    def _calls(self, mine: list[Any], choice: int) -> list[tuple[str | None, str, str]]:
        """Join each call's events, and hold them against the message."""
        numbers = [e.call for e in mine if isinstance(e, ToolOpened)]
        calls = self.decoder.message(choice).calls
        assert numbers == list(range(len(calls)))
        assert sorted(e.call for e in mine if isinstance(e, ToolClosed)) == numbers
        for at, call in enumerate(calls):
            assert [e.name for e in mine if isinstance(e, ToolNamed) and e.call == at] == [
                call.name
            ]
            pieces = [e.text for e in mine if isinstance(e, ToolArguments) and e.call == at]
            assert "".join(pieces) == call.arguments
        return [(call.id, call.name, call.arguments) for call in calls]

    @property
    def totals(self) -> dict[str, Any]:
        usages = [d.usage for d in self.read if d.usage is not None]
        return {
            "usage": usages[-1] if usages else None,
            "done": any(d.done for d in self.read),
            "errors": sum(d.error for d in self.read),
            "malformed_events": sum(d.malformed for d in self.read),
        }


def expected_choice(expected: dict[str, Any]) -> dict[str, Any]:
    calls = [(c["id"], c["name"], c["arguments"]) for c in expected["tool_calls"]]
    prose = {key: expected[key] for key in ("text", "reasoning", "finish_reason")}
    return {**prose, "tool_calls": calls}


@pytest.mark.parametrize("one", cases("stream", "json"), ids=lambda one: one.name)
def test_corpus_answer_is_rebuilt_however_it_was_cut(one: Case) -> None:
    """Text, reasoning, calls, finish, usage, end mark and faults are those of the sidecar."""
    expected = one.expected
    ways = [[one.body], one.reads(), random_splits(one.body, 3), random_splits(one.body, 4)]
    if len(one.body) < 20_000:
        ways.append(byte_by_byte(one.body))
    answers = [Answer(one, reads) for reads in ways]
    assert all(answer.events == answers[0].events for answer in answers)
    answer = answers[0]
    assert answer.choice(0) == expected_choice(expected)
    for other, content in expected.get("other_choices", {}).items():
        assert answer.choice(int(other)) == expected_choice(content)
    errors = len(expected["errors"])
    keys = ("usage", "done", "malformed_events")
    assert answer.totals == {**{key: expected[key] for key in keys}, "errors": errors}


@pytest.mark.parametrize("one", [c for c in cases("stream") if "lenient" in c.expected], ids=repr)
def test_unterminated_tail_can_be_read_too(one: Case) -> None:
    """The tail of the body, decoded as an event, gives what a lenient client reads."""
    reader, decoder = SseReader(), ChatDecoder(one.profile)
    events = [*reader.feed(one.body), reader.tail()]
    read = [decoder.decode(e) for e in events if e is not None]
    decoder.close(broken=False)
    lenient = one.expected["lenient"]
    assert decoder.message(0).text == lenient["text"]
    assert any(d.done for d in read) == lenient["done"]


@pytest.mark.parametrize("one", cases("error"), ids=lambda one: one.name)
def test_corpus_error_document_is_told_from_an_answer(one: Case) -> None:
    """A JSON error document is an error, a page or an empty body is malformed; none has events."""
    read = ChatDecoder(PLAIN).document(one.body)
    assert not read.events
    assert (read.error, read.malformed) == (one.expected["is_json"], not one.expected["is_json"])


def test_one_event_is_read_in_the_order_thinking_text_calls_finish() -> None:
    """The order within an event is fixed, whatever the order of its keys and calls."""
    calls = [
        {"index": 1, "id": "b", "function": {"name": "y", "arguments": "2"}},
        {"index": 0, "id": "a", "function": {"name": "x", "arguments": "1"}},
    ]
    first = chunk({"tool_calls": list(reversed(calls))})
    delta = {"tool_calls": calls, "content": "c", "reasoning": "r"}
    got = decoded(first, chunk(delta, finish_reason="tool_calls"))
    assert got[6:11] == [
        ThinkingDelta(0, "r"),
        TextDelta(0, "c"),
        ToolArguments(0, 0, "1"),
        ToolArguments(0, 1, "2"),
        FinishReason(0, "tool_calls"),
    ]


def test_sealed_reasoning_is_marked() -> None:
    """A cipher without text is a thinking delta of its own."""
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    got = decoded(chunk({"reasoning_details": details}))
    assert got == [ThinkingDelta(0, "", sealed=True)]


def test_message_counts_only_where_nothing_was_streamed() -> None:
    """A whole message repeats what was streamed, but may be all that there is."""
    message = {"content": "all", "reasoning": "r"}
    whole = chunk(message=message)
    assert decoded(whole, whole) == [ThinkingDelta(0, "r"), TextDelta(0, "all")]
    assert decoded(chunk({"content": "a"}), whole) == [TextDelta(0, "a")]
    assert decoded(chunk({"reasoning": "a"}), whole) == [ThinkingDelta(0, "a")]
    called = decoded(chunk({"tool_calls": [{"function": {"name": "x"}}]}), whole)
    assert not any(isinstance(e, TextDelta) for e in called)
    assert decoded(chunk({"content": "a"}, index=1), whole)[0] == TextDelta(1, "a")


def test_cumulative_profile_covers_text_and_reasoning() -> None:
    """Only with the profile is a longer piece taken for all so far."""
    events = [chunk({"content": c, "reasoning": c}) for c in ("ha", "haha")]
    expected = [(ThinkingDelta(0, "ha"), TextDelta(0, "ha"))] * 2
    assert decoded(*events, profile=Profile(cumulative=True)) == [
        e for pair in expected for e in pair
    ]
    assert decoded(*events)[-1] == TextDelta(0, "haha")


def test_halves_over_two_deltas_are_one_character() -> None:
    """A half waits for its partner; behind the last delta it comes as U+FFFD."""
    events = [event('{"choices":[{"delta":{"content":"a\\ud83d"}}]}'),
              event('{"choices":[{"delta":{"content":"\\ude00"}}]}'),
              event('{"choices":[{"delta":{"reasoning":"\\ud83d"}}]}')]  # fmt: skip
    got = decoded(*events)
    assert got == [
        TextDelta(0, "a"),
        OpenCharacter(0),
        TextDelta(0, "😀"),
        OpenCharacter(0),
        ThinkingDelta(0, "\ufffd"),
    ]


def test_an_event_with_text_does_not_end_within_reasoning() -> None:
    """What a half of a character in the reasoning waited for does not come any more."""
    thought = event('{"choices":[{"delta":{"reasoning":"\\ud83d"}}]}')
    for said in ('{"content":"a"}', '{"content":"a","tool_calls":[]}'):
        told = decoded(thought, event('{"choices":[{"delta":' + said + "}]}"))
        assert told == [OpenCharacter(0), TextDelta(0, "a"), ThinkingDelta(0, "\ufffd")]


def test_half_before_the_end_is_let_out_through_the_think_split() -> None:
    """What the joiner held passes the tags before the end of the output."""
    profile = Profile(inline_think=True)
    got = decoded(event('{"choices":[{"delta":{"content":"<think>a\\ud83d"}}]}'), profile=profile)
    assert got == [ThinkingDelta(0, "a"), OpenCharacter(0), ThinkingDelta(0, "\ufffd")]


def test_think_tags_are_words_without_the_profile() -> None:
    """No tag is read where the profile does not say so."""
    assert decoded(chunk({"content": "<think>a"})) == [TextDelta(0, "<think>a")]


def test_nothing_counts_behind_the_end_mark() -> None:
    """Later events are passed over, a second end mark too."""
    decoder = ChatDecoder(PLAIN)
    assert decoder.decode(event(" [DONE] ")) == Decoded(done=True)
    assert decoder.decode(chunk({"content": "late"})) == Decoded()
    assert decoder.decode(event("[DONE]")) == Decoded()
    assert decoder.decode(event("{broken")) == Decoded()


def test_events_without_a_chunk_are_passed_over() -> None:
    """Comments, pings and empty data are no faults."""
    decoder = ChatDecoder(PLAIN)
    blank = [SseEvent(b": beat\n\n", None), event("{}", "ping"), event(""), event(" ")]
    assert [decoder.decode(e) for e in blank] == [Decoded()] * 4


@pytest.mark.parametrize(
    "data", ["hello", "{", "[]", "3", "null", '"x"', "data: {}", "[" * 100_000]
)
def test_data_that_is_no_object_is_counted(data: str) -> None:
    """Anything but a JSON object is malformed and read no further."""
    assert ChatDecoder(PLAIN).decode(event(data)) == Decoded(malformed=True)


@pytest.mark.parametrize(
    "given_event",
    [
        event({"error": {"message": "x"}}),
        event({"error": "x"}),
        event({"message": "x"}, "error"),
        event({"object": "error"}),
        event({"choices": [{"error": {"code": 1}}]}),
    ],
)
def test_failure_in_the_stream_is_reported(given_event: SseEvent) -> None:
    """An error object, an error event and an error in a choice are failures."""
    assert ChatDecoder(PLAIN).decode(given_event).error


def test_failure_in_a_list_is_reported() -> None:
    """Some upstreams put their error object into an array."""
    listed = [{"error": {"message": "x"}}]
    assert ChatDecoder(PLAIN).decode(event(listed)) == Decoded(malformed=True, error=True)
    assert ChatDecoder(PLAIN).document(json.dumps(listed).encode()).error


def test_error_key_without_content_is_no_failure() -> None:
    """`"error": null` in each chunk says that there is none."""
    assert not ChatDecoder(PLAIN).decode(event({"error": None, "choices": []})).error


@pytest.mark.parametrize(
    "value",
    [
        {"usage": {"total_tokens": 3}},
        {"x_groq": {"usage": {"total_tokens": 3}}},
        {"choices": [{"usage": {"total_tokens": 3}}]},
        {"usage": {"total_tokens": 1}, "choices": [{"usage": {"total_tokens": 3}}]},
        {"usage": {"total_tokens": 3, "cost": 0.5, "odd": None, "flag": True}},
    ],
)
def test_usage_is_found_where_upstreams_put_it(value: dict[str, Any]) -> None:
    """At the top, in the vendor's object, in the choice; only counts are taken."""
    assert ChatDecoder(PLAIN).decode(event(value)).usage == {"total_tokens": 3}


def test_nested_counts_have_dotted_names() -> None:
    """Details of the counts are kept one level deep."""
    usage = {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4, "deep": {"x": 1}}}
    read = ChatDecoder(PLAIN).decode(event({"usage": usage}))
    assert read.usage == {"prompt_tokens": 5, "prompt_tokens_details.cached_tokens": 4}
    assert ChatDecoder(PLAIN).decode(event({"usage": None})).usage is None


def test_document_may_have_blank_lines_and_a_mark_in_front() -> None:
    """What some upstreams send to keep the connection alive is skipped."""
    body = b'\xef\xbb\xbf\r\n\n {"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}\n'
    read = ChatDecoder(PLAIN).document(body)
    assert read.events == (TextDelta(0, "a"), FinishReason(0, "stop"))
    assert not read.error


def test_document_with_invalid_bytes_is_read() -> None:
    """Bytes that are no UTF-8 become U+FFFD."""
    read = ChatDecoder(PLAIN).document(b'{"choices":[{"message":{"content":"a\xff"}}]}')
    assert read.events == (TextDelta(0, "a\ufffd"),)


@pytest.mark.parametrize(
    "labels",
    [
        [{"id": "call_0"}, {"id": "call_0"}],
        [{}, {}],
        [{"id": ""}, {"id": ""}],
        [{"index": 0}, {"index": 0}],
        [{"index": 0, "id": "call_0"}, {"index": 0, "id": "call_0"}],
    ],
)
@pytest.mark.parametrize("arguments", [['{"a": 1}', '{"a": 2}'], ["{}", "{}"], ["", ""]])
def test_each_call_of_a_whole_message_is_one(
    labels: list[dict[str, Any]], arguments: list[str]
) -> None:
    """Labels join pieces of a stream; here nothing is in pieces, and one must not hide another."""
    calls = [
        {**label, "function": {"name": "write", "arguments": text}}
        for label, text in zip(labels, arguments, strict=True)
    ]
    decoder = ChatDecoder(PLAIN)
    decoder.document(json.dumps({"choices": [{"message": {"tool_calls": calls}}]}).encode())
    assert [call.arguments for call in decoder.message(0).calls] == arguments


def test_close_happens_once_and_ends_the_reading() -> None:
    """The break is told as such; a second end says nothing, and nothing counts behind it."""
    decoder = ChatDecoder(PLAIN)
    decoder.decode(chunk({"tool_calls": [{"index": 0, "function": {"name": "x"}}]}))
    assert decoder.close(broken=True) == (ToolNamed(0, 0, "x"), ToolClosed(0, 0), Broken())
    assert decoder.close(broken=False) == ()
    assert decoder.decode(chunk({"content": "late"})) == Decoded()


def test_message_holds_what_goes_back_upstream() -> None:
    """Calls with their unknown keys, reasoning under its own field name."""
    decoder = ChatDecoder(PLAIN)
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "c2ln"}}}  # fmt: skip
    decoder.decode(chunk({"reasoning_content": "why", "content": "so", "tool_calls": [call]}))
    message = decoder.message(0)
    assert (message.text, message.reasoning) == ("so", "why")
    assert json.loads(message.extra) == {"reasoning_content": "why"}
    del call["index"]
    assert [json.loads(raw) for raw in message.raw_calls] == [call]


def test_message_of_an_unknown_choice_is_empty() -> None:
    """A choice that never spoke has an empty message."""
    message = ChatDecoder(PLAIN).message(4)
    assert (message.text, message.calls, message.raw_calls, message.extra) == ("", (), (), b"{}")


def test_signature_of_the_corpus_call_is_kept() -> None:
    """The vendor's key on a call comes back with the call."""
    answer = Answer(case("tool_thought_signature"), [case("tool_thought_signature").body])
    (raw,) = answer.decoder.message(0).raw_calls
    assert json.loads(raw)["extra_content"] == {"google": {"thought_signature": "c2lnbmF0dXJl"}}


KEYS = st.sampled_from(
    [
        "choices", "delta", "message", "content", "tool_calls", "function", "function_call",
        "custom", "name", "arguments", "input", "index", "id", "type", "text", "thinking",
        "reasoning", "error", "reasoning_content", "reasoning_details", "signature", "usage",
        "x_groq", "finish_reason", "object", "extra_content", "thinking_blocks", "summary", "role",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    ["", "a", "{}", '{"a":1}', "<think>", "</think>", "thinking", "\ud83d", "\ude00", "custom"]
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)
PROFILES = st.builds(
    Profile, inline_think=st.booleans(), start_in_think=st.booleans(), cumulative=st.booleans()
)


@given(st.lists(st.dictionaries(KEYS, ODD, max_size=5), max_size=5), PROFILES)
@settings(max_examples=150, deadline=None)
def test_no_shape_of_chunk_raises(values: list[dict[str, Any]], profile: Profile) -> None:
    """Any JSON in any place is read or passed over, and what comes out can be encoded."""
    decoder = ChatDecoder(profile)
    wrapped = [*values, *({"choices": [value, {"delta": value}]} for value in values)]
    out = [e for value in wrapped for e in decoder.decode(event(json.dumps(value))).events]
    out += decoder.close(broken=True)
    repr(out).encode()
    for choice in range(-2, 4):
        message = decoder.message(choice)
        (message.text + message.reasoning).encode()
        assert all(isinstance(json.loads(raw), dict) for raw in (*message.raw_calls, message.extra))


@given(st.binary(max_size=300))
@settings(max_examples=80, deadline=None)
def test_no_bytes_raise(body: bytes) -> None:
    """Bytes of any kind, as a stream or as a document, are survived."""
    decoder = ChatDecoder(PLAIN)
    assert decoder.document(body).events == ()
    for read in SseReader().feed(b"data: " + body + b"\n\n"):
        decoder.decode(read)
    assert decoder.close(broken=False) == (Finished(),)


@given(st.sampled_from([c for c in cases("stream") if len(c.body) < 3000]), st.data())
@settings(max_examples=80, deadline=None)
def test_damaged_bodies_are_survived(one: Case, data: st.DataObject) -> None:
    """A byte gone wrong anywhere raises nothing, and leaves the reads without influence."""
    at = data.draw(st.integers(0, len(one.body) - 1))
    damaged = one.body[:at] + data.draw(st.binary(max_size=3)) + one.body[at + 1 :]
    broken = Case(one.name, damaged, one.sidecar)
    whole = Answer(broken, [damaged])
    assert Answer(broken, random_splits(damaged, at)).events == whole.events


@pytest.mark.parametrize("depth", [100, 900, *range(930, 1000)])
def test_nesting_at_the_border_of_what_can_be_read_is_survived(depth: int) -> None:
    """Values that can just be read, but not compared or written, take nothing else with them."""
    deep = "[" * depth + "]" * depth
    arguments = json.dumps('{"a":' + deep + "}")
    body = f'{{"name":"n","arguments":{arguments},"y":{deep}}}'
    delta = f'{{"extra_content":{{"a":{deep}}},"tool_calls":[{{"index":0,"function":{body}}}]}}'
    again = f'{{"tool_calls":[{{"index":0,"x":{deep},"function":{{"arguments":{arguments}}}}}]}}'
    decoder = ChatDecoder(PLAIN)
    for one in (delta, again, again):
        decoder.decode(event(f'{{"choices":[{{"delta":{one}}}]}}'))
    decoder.close(broken=False)
    message = decoder.message(0)
    assert all(raw.startswith(b"{") for raw in (*message.raw_calls, message.extra))
