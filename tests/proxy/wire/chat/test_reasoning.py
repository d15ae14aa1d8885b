from __future__ import annotations

from typing import Any

import pytest

from proxy.wire.chat.reasoning import ReasoningFields, Thought, is_thinking, part_text, read_thought


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"reasoning_content": "a"}, "a"),
        ({"reasoning": "a"}, "a"),
        ({"thinking": "a"}, "a"),
        ({"reasoning_text": "a"}, "a"),
        ({"reasoning_content": "", "reasoning": "a"}, "a"),
        ({"reasoning_content": "a", "reasoning": "a"}, "a"),
        ({"reasoning": 5, "thinking": {"content": "x"}}, ""),
        ({"content": [{"type": "thinking", "thinking": "a"}, {"type": "text", "text": "b"}]}, "a"),
        ({"content": [{"type": "thinking", "thinking": [{"text": "a"}, "b", 3]}]}, "ab"),
        ({"reasoning_details": [{"text": "a"}, {"summary": "b"}, {"data": "x"}, "odd"]}, "ab"),
        ({"reasoning": "a", "reasoning_details": [{"text": "a"}]}, "a"),
        ({"thinking_blocks": [{"type": "thinking", "thinking": "a"}]}, "a"),
        ({"content": None, "reasoning_details": None}, ""),
        ({"content": "text", "reasoning_details": "odd"}, ""),
    ],
)
def test_thought_is_the_first_field_that_is_not_empty(message: dict[str, Any], text: str) -> None:
    """Plain fields come before parts, parts before details; odd types count for nothing."""
    assert read_thought(message) == Thought(text)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}, ""),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "a", "signature": "s"}]}, "a"),
        ({"reasoning": "a", "thinking_blocks": [{"type": "redacted_thinking", "data": "x"}]}, "a"),
        ({"content": [{"type": "thinking", "thinking": "a", "signature": "s"}]}, "a"),
        ({"reasoning_opaque": "x"}, ""),
        ({"reasoning_content": "a", "signature": "s"}, "a"),
    ],
)
def test_signed_or_encrypted_reasoning_is_sealed(message: dict[str, Any], text: str) -> None:
    """A signature or a cipher anywhere in a delta seals its reasoning."""
    assert read_thought(message) == Thought(text, sealed=True)


def test_empty_signature_seals_nothing() -> None:
    """Keys that are there but say nothing are absent."""
    details = [{"type": "reasoning.text", "text": "a", "signature": None}]
    assert read_thought({"reasoning_details": details, "signature": ""}) == Thought("a")
    assert read_thought({"reasoning_details": [{"type": ["odd"], "text": "a"}]}) == Thought("a")


def test_parts_are_told_apart() -> None:
    """A thinking part has no text; a plain string is its own."""
    assert (part_text({"text": "a"}), part_text("b"), part_text(3)) == ("a", "b", "")
    assert part_text({"text": None}) == ""
    assert is_thinking({"type": "thinking"})
    assert not is_thinking({"type": "text"})
    assert not is_thinking("thinking")


def gathered(*deltas: dict[str, Any], cumulative: bool = False) -> dict[str, Any]:
    fields = ReasoningFields(cumulative=cumulative)
    for delta in deltas:
        fields.read(delta)
    return fields.fields()


def test_fields_are_gathered_under_their_own_names() -> None:
    """Each field is the sum of its pieces; content and calls are none of them."""
    got = gathered(
        {"reasoning": "a", "reasoning_content": "a", "content": "t", "tool_calls": []},
        {"reasoning": "b", "reasoning_content": None},
        {"reasoning_opaque": "x", "extra_content": {"g": 1}},
        {"extra_content": {"h": 2}, "reasoning_details": 4},
    )
    assert got == {
        "reasoning": "ab",
        "reasoning_content": "a",
        "reasoning_opaque": "x",
        "extra_content": {"g": 1, "h": 2},
    }


def test_cumulative_fields_are_not_repeated() -> None:
    """Where each piece repeats all so far, the last one is the field."""
    assert gathered(
        {"reasoning": "a"}, {"reasoning": "ab"}, {"reasoning": "c"}, cumulative=True
    ) == {"reasoning": "abc"}


def test_pieces_of_one_detail_are_joined() -> None:
    """Details in a row of one type and index are one block; ciphers and signed ones stand alone."""
    text = {"type": "reasoning.text", "index": 0, "format": None}
    cipher = {"type": "reasoning.encrypted", "data": "x", "index": 0}
    got = gathered(
        {"reasoning_details": [{**text, "text": "a"}]},
        {"reasoning_details": [{**text, "text": "b"}, {**text, "text": "", "signature": "s"}]},
        {"reasoning_details": [{**text, "text": "c"}, cipher, cipher]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "d"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "e", "id": 1}]},
    )
    assert got == {
        "reasoning_details": [
            {**text, "text": "ab", "signature": "s"},
            {**text, "text": "c"},
            cipher,
            cipher,
            {"type": "reasoning.summary", "summary": "de", "id": 1},
        ]
    }
