from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.wire.chat.slots import LEGACY, Calls, DocumentEnd, ToolEvent, call_of, raw_of
from rules_engine.events import ToolArguments, ToolClosed, ToolNamed, ToolOpened


def piece(**keys: Any) -> dict[str, Any]:
    body = {key: keys.pop(key) for key in ("name", "arguments") if key in keys}
    return {**keys, "function": body} if body else keys


def events_of(*pieces: dict[str, Any]) -> list[ToolEvent]:
    calls = Calls(0)
    return [event for one in pieces for event in calls.read(one)] + calls.close()


def summary(*pieces: dict[str, Any]) -> list[tuple[str | None, str, str]]:
    calls = Calls(0)
    for one in pieces:
        calls.read(one)
    return [(c.id, c.name, c.arguments) for c in map(call_of, calls.slots)]


def test_call_is_opened_named_filled_and_closed() -> None:
    """The name is settled when arguments begin, and the end closes the call."""
    got = events_of(
        piece(index=3, id="c", name="ed"), piece(index=3, name="it"), piece(index=3, arguments="{"),
        piece(index=3, arguments="}"),
    )  # fmt: skip
    assert got == [
        ToolOpened(0, 0, "c"),
        ToolNamed(0, 0, "edit"),
        ToolArguments(0, 0, "{"),
        ToolArguments(0, 0, "}"),
        ToolClosed(0, 0),
    ]


def test_name_behind_the_arguments_is_settled_when_it_comes() -> None:
    """A late name counts at once; one that never comes is settled as empty at the end."""
    late = events_of(piece(index=0, arguments="{}"), piece(index=0, name="edit"))
    assert late[-2:] == [ToolNamed(0, 0, "edit"), ToolClosed(0, 0)]
    never = events_of(piece(index=0, name="", arguments="{}"))
    assert never[-2:] == [ToolNamed(0, 0, ""), ToolClosed(0, 0)]


def test_call_without_arguments_is_a_call() -> None:
    """Null, missing and empty arguments are no arguments."""
    got = summary(
        piece(index=0, id="a", name="x", arguments=None), piece(index=1, id="b", name="y"),
        piece(index=2, id="c", name="z", arguments=""),
    )  # fmt: skip
    assert got == [("a", "x", ""), ("b", "y", ""), ("c", "z", "")]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([piece(index=0, id="a", name="x"), piece(index=0, id="", name="", arguments="{}")],
         [("a", "x", "{}")]),
        ([piece(index=0, id="a", name="x"), piece(index=0, id=None, name=None, arguments="{}")],
         [("a", "x", "{}")]),
        ([piece(index=0, id="a", name="x", arguments="{"),
          piece(index=0, id="a", name="x", arguments="}")], [("a", "x", "{}")]),
        ([piece(index=0, id="a", name="x"), piece(index=0, id="b", name="x")],
         [("a", "x", ""), ("b", "x", "")]),
        ([piece(index=0, id="a", name="x"), piece(index=0, id="b", name="y"),
          piece(index=0, id="a", arguments="{}")], [("a", "x", "{}"), ("b", "y", "")]),
        ([piece(index=0, name="x", arguments="{}"), piece(index=0, name="x", arguments="{}")],
         [(None, "x", "{}"), (None, "x", "{}")]),
        ([piece(index=0, name="x", arguments="{"), piece(index=0, name="x", arguments="}")],
         [(None, "x", "{}")]),
        ([piece(index=0, name="x"), piece(index=0, id="late", arguments="{}")],
         [("late", "x", "{}")]),
        ([piece(id="a", name="x", arguments="{"), piece(arguments="}")], [("a", "x", "{}")]),
        ([piece(index=None, id="a", name="x"), piece(id="b", name="y"),
          piece(id="a", arguments="1")], [("a", "x", "1"), ("b", "y", "")]),
        ([piece(name="x", arguments="{}"), piece(name="y", arguments="{}")],
         [(None, "x", "{}"), (None, "y", "{}")]),
        ([piece(name="x", arguments="{"), piece(name="y", arguments="{}")],
         [(None, "x", "{"), (None, "y", "{}")]),
        ([piece(name="x"), piece(name="y")], [(None, "xy", "")]),
        ([piece(index=True, id="a", name="x"), piece(index="0", arguments="{}")],
         [("a", "x", "{}")]),
        ([piece(index=7, id="a", name="x"), piece(index=9, id="b", name="y"),
          piece(index=7, arguments="1"), piece(index=9, arguments="2")],
         [("a", "x", "1"), ("b", "y", "2")]),
        ([piece(index=0, id=5, name=6, arguments=7)], [(None, "", "")]),
        ([{"index": 0, "id": "a"}], [("a", "", "")]),
    ],
)  # fmt: skip
def test_pieces_go_to_the_call_that_they_continue(
    pieces: list[dict[str, Any]], expected: list[tuple[str | None, str, str]]
) -> None:
    """Index, id and the state of the open call decide, in this order; empty is absent."""
    assert summary(*pieces) == expected


def test_complete_arguments_sent_again_are_dropped() -> None:
    """A repeat counts for nothing however it is spaced; anything else is appended."""
    first = piece(index=0, id="a", name="x", arguments='{"p": [1, "}"]}')
    assert summary(first, piece(index=0, arguments=' {"p":[1,"}"]}')) == summary(first)
    other = summary(first, piece(index=0, arguments='{"p":2}'))
    assert other == [("a", "x", '{"p": [1, "}"]}{"p":2}')]


def test_arguments_as_object_become_text() -> None:
    """An object is written compactly, once; behind text it counts for nothing."""
    whole = piece(index=0, name="x", arguments={"p": ["é", None]})
    assert summary(whole, whole) == [
        (None, "x", '{"p":["é",null]}'),
        (None, "x", '{"p":["é",null]}'),
    ]
    assert summary(piece(index=0, name="x", arguments="{"), piece(index=0, arguments={"p": 1})) == [
        (None, "x", "{")
    ]
    assert summary(piece(index=0, name="x", arguments=[1])) == [(None, "x", "[1]")]


def test_halves_in_arguments_are_joined() -> None:
    """A character cut between two pieces comes whole; a lone half is replaced at the end."""
    pieces = [
        piece(index=0, name="x", arguments="\ud83d"),
        piece(index=0, arguments="\ude00\ud83d"),
    ]
    texts = [event.text for event in events_of(*pieces) if isinstance(event, ToolArguments)]
    assert texts == ["😀", "\ufffd"]
    assert summary(*pieces) == [(None, "x", "😀\ufffd")]


def test_custom_call_is_freeform() -> None:
    """A custom tool's input is its text; name and input stand under their own keys."""
    calls = Calls(2)
    opened = calls.read({"index": 0, "id": "c", "type": "custom", "custom": {"name": "p"}})
    calls.read({"index": 0, "custom": {"input": "*** Begin"}})
    assert opened == [ToolOpened(2, 0, "c", freeform=True)]
    assert json.loads(raw_of(calls.slots[0])) == {
        "id": "c", "type": "custom", "custom": {"name": "p", "input": "*** Begin"},
    }  # fmt: skip


def test_custom_call_is_known_without_its_type() -> None:
    """The key of the body is enough to tell a custom call."""
    (opened, *_) = events_of({"custom": {"name": "p", "input": "x"}})
    assert opened == ToolOpened(0, 0, None, freeform=True)


def test_legacy_function_call_is_numbered_too() -> None:
    """The older API's call is a call without an id, and keeps its kind."""
    calls = Calls(0)
    events = calls.read_legacy({"name": "edit", "arguments": "{"})
    calls.read_legacy({"arguments": "}"})
    assert events == [ToolOpened(0, 0), ToolNamed(0, 0, "edit"), ToolArguments(0, 0, "{")]
    raw = json.loads(raw_of(calls.slots[0]))
    assert raw == {"type": LEGACY, "function": {"name": "edit", "arguments": "{}"}}


def test_raw_call_keeps_unknown_keys_without_the_index() -> None:
    """Signatures come back as sent, from whichever piece; null says nothing; objects add up."""
    calls = Calls(0)
    calls.read({"index": 0, "id": "a", "type": None, "extra_content": {"g": {"s": "c2ln"}},
                "function": {"name": "x", "mark": 1}})  # fmt: skip
    calls.read(
        {"index": 0, "extra_content": {"h": 2}, "seal": None, "function": {"arguments": "{}"}}
    )
    assert json.loads(raw_of(calls.slots[0])) == {
        "id": "a",
        "type": "function",
        "function": {"name": "x", "arguments": "{}", "mark": 1},
        "extra_content": {"g": {"s": "c2ln"}, "h": 2},
    }


@given(
    st.recursive(
        st.integers() | st.text('"\\{}[]a', max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    st.lists(st.integers(0, 60), max_size=6),
    st.sampled_from(["", " \n", "{}", "x", '"']),
)
@settings(max_examples=80, deadline=None)
def test_document_end_is_where_the_object_closes(
    value: object, borders: list[int], behind: str
) -> None:
    """The end is reached exactly with the last bracket, however the text was cut."""
    text = json.dumps({"v": value}, ensure_ascii=False)
    end = DocumentEnd()
    cuts = sorted({0, *(b for b in borders if b < len(text)), len(text)})
    for a, b in itertools.pairwise(cuts):
        assert not end.reached
        end.feed(text[a:b])
    assert end.reached
    end.feed(behind)
    assert end.reached == (not behind.strip())
    end.feed("")
    assert end.reached == (not behind.strip())


def test_many_repeated_objects_stay_cheap() -> None:
    """Text that keeps looking complete is not parsed again with every piece."""
    calls = Calls(0)
    calls.read(piece(index=0, id="a", name="x", arguments='{"a":"'))
    for _ in range(20_000):
        calls.read(piece(index=0, arguments="{}"))
    assert len(call_of(calls.slots[0]).arguments) == 40_006


@pytest.mark.parametrize("labels", [{"id": "call_0"}, {"index": 0, "id": "call_0"}, {"index": 0}])
@pytest.mark.parametrize("cut", [1, 4, 8])
def test_a_named_call_behind_a_complete_one_is_another(labels: dict[str, Any], cut: int) -> None:
    """Whatever its labels say: a second call must not hide behind the first one's arguments."""
    first, second = '{"a":1}', '{"a":2}'
    rest = {key: labels[key] for key in ("index", "id") if key in labels}
    got = summary(
        piece(**labels, name="x", arguments=first[:cut]), piece(**rest, arguments=first[cut:]),
        piece(**labels, name="x", arguments=second[:cut]), piece(**rest, arguments=second[cut:]),
    )  # fmt: skip
    assert [arguments for _, _, arguments in got] == [first, second]


def test_arguments_said_twice_are_one_call() -> None:
    """Some upstreams send the complete call once more at its end, with its labels."""
    whole = piece(index=0, id="c", name="x", arguments='{"a": 1}')
    assert summary(whole, whole) == [("c", "x", '{"a": 1}')]
    assert summary(whole, piece(index=0, id="c", name="x", arguments=" ")) == [
        ("c", "x", '{"a": 1} ')
    ]
