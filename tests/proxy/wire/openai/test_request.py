"""What requests of all APIs say in the same keys."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.wire.openai.request import asks_for_usage, count_of, hints_of, is_structured, text_of


@pytest.mark.parametrize(
    "root",
    [
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {}}},
        {"guided_regex": "a+"},
        {"grammar": "root ::= x"},
        {"nvext": {"guided_json": {"type": "object"}}},
        {"extra_body": {"guided_choice": ["a", "b"]}},
    ],
)
def test_schema_or_grammar_makes_an_answer_one_document(root: dict[str, Any]) -> None:
    """Half of it, followed by another, would be neither."""
    assert is_structured(root)


@pytest.mark.parametrize(
    "root",
    [{}, {"response_format": {"type": "text"}}, {"response_format": 3}, {"guided_json": None}],
)
def test_other_answers_are_free(root: dict[str, Any]) -> None:
    """Keys that say nothing bind nothing."""
    assert not is_structured(root)


def test_odd_values_count_as_nothing() -> None:
    """Upstreams judge them, not we."""
    assert [count_of(value) for value in (3, 1, 0, -1, None, "2", True, 2.0)] == [3] + [1] * 7
    assert [text_of(value) for value in ("a", None, 3, "\ud83d")] == ["a", "", "", "\ufffd"]
    assert asks_for_usage({"stream_options": {"include_usage": True}})
    assert not asks_for_usage({"stream_options": [1]})
    assert not asks_for_usage({"stream_options": {"include_usage": 1}})


def test_names_of_the_conversation_are_found_in_the_body() -> None:
    """By dotted key; only strings."""
    root = {"metadata": {"sessionId": "s", "session_id": 3}, "prompt_cache_key": "k"}
    assert hints_of(root) == (("metadata.sessionId", "s"), ("prompt_cache_key", "k"))
