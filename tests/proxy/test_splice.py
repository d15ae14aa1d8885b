"""A splice survives its encoding; a payload that says nothing raises nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.splice import (
    Delivery,
    Kept,
    Note,
    Placement,
    Splice,
    ToolNote,
    decode,
    encode,
    flipped,
)

any_text = st.text(alphabet=st.characters(), max_size=8).filter(
    lambda text: text == json.loads(json.dumps(text))  # two halves written apart come back joined
)
delivers = st.lists(st.builds(Delivery, any_text, any_text), max_size=2).map(tuple)
notes = st.builds(Note, any_text, st.binary(max_size=8), st.sampled_from(Placement), delivers)
kept = st.builds(Kept, st.binary(max_size=8), delivers, st.booleans())
splices = st.builds(
    Splice,
    before=st.lists(kept | notes, max_size=3).map(tuple),
    strip=any_text,
    strip_reasoning=any_text,
    tool_notes=st.lists(st.builds(ToolNote, st.integers(0, 9), any_text, notes), max_size=2).map(
        tuple
    ),
    after=st.lists(notes, max_size=2).map(tuple),
    restore=st.binary(max_size=8),
    released=any_text,
    head=st.booleans(),
    dropped=st.booleans(),
)


@given(splices)
def test_splice_survives_its_encoding(splice: Splice) -> None:
    """Any text, any bytes, lone surrogates too."""
    payload = encode(splice)
    assert decode(payload) == splice
    assert payload.isascii()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["v", "before", "after", "kept", "note", "tool_notes", "text", "strip"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.binary(max_size=40) | json_values.map(lambda value: json.dumps(value).encode()))
def test_decode_of_anything_raises_nothing(payload: bytes) -> None:
    """A damaged payload is None or a splice, never an error."""
    found = decode(payload)
    assert found is None or isinstance(found, Splice)


@pytest.mark.parametrize(
    "fields",
    [
        {"v": 2},
        {},
        {"v": 1, "strip": 3},
        {"v": 1, "before": [{}]},
        {"v": 1, "after": [{"text": "a", "rendered": "a", "placement": "above", "delivers": []}]},
        {"v": 1, "before": 7},
    ],
)
def test_decode_skips_what_it_does_not_know(fields: dict[str, Any]) -> None:
    """Another version and wrong shapes give no splice."""
    assert decode(json.dumps(fields).encode()) is None


def note(placement: Placement) -> Note:
    return Note("text", b"{}", placement)


def test_flipped_merges_all_where_anything_stands_apart() -> None:
    """Partials go; what is merged into a user message stays."""
    splice = Splice(
        before=(
            note(Placement.INTO_USER),
            Kept(b"p", partial=True),
            note(Placement.OWN),
            Kept(b"refused"),
        ),
        tool_notes=(ToolNote(0, "w", note(Placement.INTO_TOOL)),),
        after=(note(Placement.OWN),),
        strip="kept as it is",
    )
    assert flipped(splice) == Splice(
        before=(note(Placement.INTO_USER), note(Placement.INTO_TOOL), Kept(b"refused")),
        tool_notes=(ToolNote(0, "w", note(Placement.INTO_TOOL)),),
        after=(note(Placement.INTO_TOOL),),
        strip="kept as it is",
    )


def test_flipped_sets_all_apart_where_everything_is_merged() -> None:
    """Merged notes get messages of their own."""
    splice = Splice(
        before=(note(Placement.INTO_USER), Kept(b"refused")),
        tool_notes=(ToolNote(0, "w", note(Placement.INTO_TOOL)),),
        after=(note(Placement.INTO_TOOL),),
    )
    assert flipped(splice) == Splice(
        before=splice.before,
        tool_notes=(ToolNote(0, "w", note(Placement.OWN)),),
        after=(note(Placement.OWN),),
    )
