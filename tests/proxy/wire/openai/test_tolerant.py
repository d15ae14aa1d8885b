from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.wire.openai.tolerant import NOT_JSON, read_json, write_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_reading_accepts_what_strict_readers_refuse() -> None:
    """Lone halves, infinities and double keys are read; of double keys the last counts."""
    value = read_json('{"a":"\\ud83d","b":-Infinity,"c":1,"c":2}')
    assert value == {"a": "\ud83d", "b": -math.inf, "c": 2}
    assert math.isnan(read_json('{"a":NaN}')["a"])


def test_reading_keeps_large_integers() -> None:
    """Integers beyond 64 bits keep their digits; one that Python refuses becomes a float."""
    assert read_json("123456789012345678901234567890") == 123456789012345678901234567890
    assert read_json("1" * 5000) == math.inf


@pytest.mark.parametrize("text", ["", "{", "{'a':1}", "<html>", "[" * 100_000, '{"a":1}{"b":2}'])
def test_reading_answers_with_a_mark_for_what_is_no_json(text: str) -> None:
    """Nothing raises, and null stays apart from what is no JSON."""
    assert read_json(text) is NOT_JSON
    assert read_json("null") is None


@given(JSON)
@settings(max_examples=60, deadline=None)
def test_reading_agrees_with_the_standard_library(value: object) -> None:
    """Whichever reader answers, the value is the one that the json module has."""
    text = json.dumps(value)
    assert repr(read_json(text)) == repr(json.loads(text))


def test_writing_gives_text_that_can_be_encoded() -> None:
    """Output is compact, not escaped, and without lone surrogates."""
    assert write_json({"a": ["é", "\ud83d", "\ud83d\ude00"]}) == '{"a":["é","\ufffd","😀"]}'


def test_writing_gives_up_on_bottomless_nesting() -> None:
    """A value nested beyond what can be written becomes nothing."""
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    assert write_json(value) == ""
