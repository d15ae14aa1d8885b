from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.quirks import PLAIN, Profile
from proxy.sse import SseEvent
from proxy.wire import Decoded
from proxy.wire.chat.decoder import ChatDecoder
from proxy.wire.chat.reasoning import REASONING_FIELDS
from proxy.wire.chat.typed import Piece, read_piece
from rules_engine.events import TextDelta, TurnEvent


class TolerantOnly(ChatDecoder):
    """Reads every chunk the long way."""

    def _said(self, _data: str) -> tuple[TurnEvent, ...] | None:
        return None


def chunk(delta: object, **more: object) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return json.dumps({"id": "c1", "choices": [choice], **more})


def test_a_plain_chunk_is_read_the_short_way() -> None:
    """As most upstreams send it: nulls, fields that nobody knows, a role."""
    delta = {"role": "assistant", "content": "a\u2028\u00e9", "tool_calls": None, "refusal": None}
    assert read_piece(chunk(delta, usage=None, extra={"a": 1})) == Piece(0, "a\u2028\u00e9")
    assert read_piece('{"choices":[{"delta":{"content":"x"},"index":3}]}') == Piece(3, "x")


@pytest.mark.parametrize("name", ["tool_calls", "function_call", *sorted(REASONING_FIELDS)])
def test_a_delta_that_says_more_is_left_to_the_tolerant_reader(name: str) -> None:
    """Text beside a call or reasoning is one of several things that the event carries."""
    assert read_piece(chunk({"content": "x", name: None})) == Piece(0, "x")
    for more in ("y", [], {}, 0, False):
        assert read_piece(chunk({"content": "x", name: more})) is None


@pytest.mark.parametrize(
    "data",
    ['{"object":"error","choices":[{"delta":{"content":"x"}}]}',
     '{"error":"","choices":[{"delta":{"content":"x"}}]}',
     '{"choices":[]}', '{"choices":[{"delta":{"content":"x"}},{"delta":{"content":"y"}}]}',
     '{"choices":{"delta":{"content":"x"}}}', '{"choices":[{"message":{"content":"x"}}]}',
     '{"choices":[{"delta":{"content":["x"]}}]}', '{"choices":[{"delta":{"content":null}}]}',
     '{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}',
     '{"usage":{"n":1},"choices":[{"delta":{"content":"x"}}]}',
     '{"x_groq":{},"choices":[{"delta":{"content":"x"}}]}',
     '{"choices":[{"delta":{"content":"\\ud800"}}]}', '{"choices":[{"delta":{"content":NaN}}]}',
     "", "[1]", "[" * 5000],
)  # fmt: skip
def test_any_other_chunk_is_left_to_the_tolerant_reader(data: str) -> None:
    """Whatever carries more than text, or is odd in any way."""
    assert read_piece(data) is None


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(allow_nan=True),
    st.sampled_from(["", "x", "<think>", "</think>", "error", "\U0001f600", "\ud83d", "\ude00"]),
    st.just([]),
    st.just({}),
    st.just([{"type": "text", "text": "p"}]),
    st.just({"message": "no"}),
)
TEXTS = st.sampled_from(["a", "b ", "\n", "", "\u2028", "\U0001f600", "\ud83d", "\ude00", "<thi"])


@st.composite
def chunks(draw: st.DrawFn) -> str:
    """A chunk, more often a plain one than not, with odd keys and values here and there."""

    def spoiled(plain: dict[str, Any], names: list[str]) -> dict[str, Any]:
        return plain | draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=1))

    more = ["content", "role", "tool_calls", "reasoning_content", "thinking_blocks", "signature"]
    delta = spoiled({"content": draw(TEXTS)}, more)
    choice = spoiled(
        {"index": draw(st.integers(0, 1)), "delta": delta},
        ["index", "finish_reason", "usage", "error", "message", "delta"],
    )
    listed = [choice] * draw(st.sampled_from([1, 1, 1, 1, 0, 2]))
    outer = ["choices", "usage", "error", "object", "x_groq", "id"]
    return json.dumps(spoiled({"choices": listed}, outer))


PROFILES = [PLAIN, Profile(cumulative=True), Profile(inline_think=True)]


@given(st.lists(chunks(), max_size=6), st.sampled_from(PROFILES))
@example(['{"choices":[{"delta":{"content":"\\ud83d"}}]}'] * 2, PLAIN)
@example(['{"choices":[{"delta":{"content":"\\ud83d"}}]}', chunk({"content": "x"})], PLAIN)
def test_both_readers_say_the_same(lines: list[str], profile: Profile) -> None:
    """Event for event, and in the message that they add up to."""
    short, long = ChatDecoder(profile), TolerantOnly(profile)
    for line in [*lines, "[DONE]"]:
        event = SseEvent(b"", line)
        assert short.decode(event) == long.decode(event)
    assert short.close(broken=False) == long.close(broken=False)
    assert [short.message(n) for n in range(2)] == [long.message(n) for n in range(2)]


@given(st.lists(chunks(), max_size=6), st.sampled_from(PROFILES))
@example([chunk({"content": "a\u2028"}), chunk({"content": "b"})], PLAIN)
@example(
    [chunk({"content": "a"}), chunk({"content": "\ud83d"}), chunk({"content": "\ude00"})], PLAIN
)
def test_texts_are_read_together_as_one_by_one(lines: list[str], profile: Profile) -> None:
    """What is read at once is what would have been read; what is not, was not read at all."""
    together, long = ChatDecoder(profile), TolerantOnly(profile)
    expected = [long.decode(SseEvent(b"", line)) for line in lines]
    told: list[Decoded] = []
    while len(told) < len(lines):
        left = lines[len(told) :]
        texts = together.texts([b"data: " + line.encode() for line in left])
        if texts is None:
            told.append(together.decode(SseEvent(b"", left[0])))
        else:
            told += (Decoded((TextDelta(texts[0], piece),)) for piece in texts[1])
    assert told == expected
    assert together.close(broken=False) == long.close(broken=False)
    assert [together.message(n) for n in range(2)] == [long.message(n) for n in range(2)]


def test_only_pieces_of_one_text_are_read_together() -> None:
    """Two choices, a piece of nothing, invalid bytes, another field: up to there."""
    plain = b'data: {"choices":[{"delta":{"content":"x"},"index":%d}]}'
    decoder = ChatDecoder(PLAIN)
    assert decoder.texts([plain % 1, plain % 1]) == (1, ["x", "x"])
    for other in (plain % 0, (plain % 1).replace(b"x", b""), b"data: [DONE]", b"", b"id: 1",
                  (plain % 1).replace(b"x", b"\xff"), b"event: ping\n" + plain % 1,
                  b": remark\n" + plain % 1, plain % 1 + b"\nid: 1"):  # fmt: skip
        assert decoder.texts([plain % 1, other, plain % 1]) == (1, ["x"])
        assert decoder.texts([other]) in (None, (0, ["x"]))
    assert decoder.texts([]) is None
    assert decoder.message(1).text == "x" * 11


def test_half_a_character_is_left_to_the_tolerant_reader() -> None:
    """Wherever it stands among the others, nothing was read."""
    plain = b'data: {"choices":[{"delta":{"content":"x"},"index":0}]}'
    decoder = ChatDecoder(PLAIN)
    half = plain.replace(b"x", b"\\ud83d")
    assert decoder.texts([plain, half]) in (None, (0, ["x"]))
    assert decoder.texts([half, plain]) is None


def test_a_repeated_key_counts_as_its_last_one() -> None:
    """JSON leaves it open; both readers take the last."""
    for data in (
        '{"choices":[],"choices":[{"delta":{"content":"x"}}]}',
        '{"choices":[{"delta":{"content":"a","content":"b"}}]}',
        '{"choices":[{"delta":{"content":"a"},"delta":{"content":"b"}}]}',
        '{"choices":[{"delta":{"content":"a","tool_calls":[{"index":0}],"tool_calls":null}}]}',
    ):
        event = SseEvent(b"", data)
        assert ChatDecoder(PLAIN).decode(event) == TolerantOnly(PLAIN).decode(event)
