from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.wire.openai.spans import RawObject, elements, members, render_array

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('{}[],:"\\ é\ud83d', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text('{}[],:"\\a', max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
INDENT = st.sampled_from([None, 1])


def raw_dumps(value: object, indent: int | None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)


@given(st.lists(JSON, max_size=5), INDENT, st.sampled_from([json.dumps, raw_dumps]))
@settings(max_examples=80, deadline=None)
def test_elements_are_those_of_the_array(
    values: list[Any], indent: int | None, dumps: Callable[..., str]
) -> None:
    """Each span holds one element, whatever brackets and quotes stand in its strings."""
    text = dumps(values, indent=indent).encode("utf-8", "surrogatepass")
    found = [text[start:end] for start, end in elements(text)]
    assert [json.loads(one.decode("utf-8", "surrogatepass")) for one in found] == values


@given(st.dictionaries(st.text('{}[],:"\\a', max_size=4), JSON, max_size=5), INDENT)
@settings(max_examples=80, deadline=None)
def test_members_are_those_of_the_object(value: dict[str, Any], indent: int | None) -> None:
    """Keys are read, values are found as they stand, and the object can be written again."""
    text = json.dumps(value, indent=indent).encode()
    found = {m.key: json.loads(text[slice(*m.value)]) for m in members(text)}
    assert found == value
    assert json.loads(RawObject(text).render()) == value


@pytest.mark.parametrize("data", [b"", b"3", b'"[1]"', b'"a",[1]', b"[1", b'{"a":1'])
def test_what_is_no_array_or_object_is_refused(data: bytes) -> None:
    """A value of another kind, or one that is cut off, has no elements."""
    with pytest.raises(ValueError, match="no array or object"):
        elements(data)


@pytest.mark.parametrize("data", [b"[1]", b'["a"]', b'["a",1]'])
def test_array_has_no_members(data: bytes) -> None:
    """An array is not taken for an object."""
    with pytest.raises(ValueError, match="no object"):
        members(data)


def test_values_keep_their_bytes() -> None:
    """Numbers, escapes and spacing inside a value stay; only what is set is new."""
    raw = RawObject(b' { "a" : 1.50 , "b":[ 1E5,NaN ],"c":"\\u0041\\ud83d" } ')
    raw.set("d", b"4")
    raw.set("a", b"2")
    assert raw.render() == b'{"a":2,"b":[ 1E5,NaN ],"c":"\\u0041\\ud83d","d":4}'


def test_last_of_double_keys_counts() -> None:
    """The last one is read and exchanged; the others stay as they are."""
    raw = RawObject(b'{"a":1,"\\u0061":2,"b":3}')
    assert (raw.get("a"), raw.read("a")) == (b"2", 2)
    raw.set("a", b"5")
    assert raw.render() == b'{"a":1,"\\u0061":5,"b":3}'


def test_missing_key_is_nothing() -> None:
    """What is not there has no bytes and no value."""
    raw = RawObject(b"{}")
    assert (raw.get("a"), raw.read("a")) == (b"", None)
    assert "a" not in raw
    raw.set('q"', b"1")
    assert 'q"' in raw
    assert json.loads(raw.render()) == {'q"': 1}
    assert raw.items() == [('q"', b"1")]


def test_array_is_written_from_its_values() -> None:
    """Values that are JSON already are joined."""
    assert render_array([]) == b"[]"
    assert render_array([b"1", b'"a"']) == b'[1,"a"]'
