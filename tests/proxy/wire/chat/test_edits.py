from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.views import Edit, Insert, Merge, Restore, Strip
from proxy.wire.chat.edits import apply, quoted

NOTE = b'{"role":"user","content":"note"}'


def edited(message: Any, *edits: Edit) -> Any:
    """Apply edits to a conversation of one message; answer with the message."""
    return json.loads(apply(json.dumps({"messages": [message]}).encode(), edits))["messages"][0]


def test_untouched_bytes_stay() -> None:
    """Spacing, numbers, double keys, escapes and invalid bytes around an edit are kept."""
    body = (
        b'\xef\xbb\xbf { "model" : "m", "x":1.50,"x" : 1E400, "messages" : [ {"role":"user" , '
        b'"content":"a\\ud83d \xff"} ,\n {"role":"user","content":"b","n":123456789012345678901} ]'
        b' , "seed":NaN}\n'
    )
    left, right = body.index(b'{"role"'), body.index(b"\n {") + 2
    assert apply(body, [Insert(0, (NOTE,))]) == body[:left] + NOTE + b"," + body[left:]
    assert apply(body, [Insert(1, (NOTE, NOTE))]) == (
        body[:right] + NOTE + b"," + NOTE + b"," + body[right:]
    )
    end = body.index(b" ] ,")
    assert apply(body, [Insert(2, (NOTE,))]) == body[:end] + b"," + NOTE + body[end:]
    assert apply(body, [Merge(1, "n", front=True)]) == body.replace(b'"b"', b'"n\\n\\nb"')


def test_inserts_keep_the_order_given() -> None:
    """Places count the body's own messages; several inserts at one place follow each other."""
    body = json.dumps({"messages": [{"n": 0}, {"n": 1}]}).encode()
    edits: list[Edit] = [
        Insert(1, (b"1", b"2")),
        Insert(2, (b"4",)),
        Insert(1, (b"3",)),
        Merge(1, "x", front=True),
    ]
    assert json.loads(apply(body, edits))["messages"] == [
        {"n": 0}, 1, 2, 3, {"n": 1, "content": "x"}, 4,
    ]  # fmt: skip


def test_last_of_double_messages_is_edited() -> None:
    """Of double keys the last one counts for every reader."""
    body = b'{"messages":[{"a":1}],"messages":[{"b":2}]}'
    assert apply(body, [Insert(0, (b"0",))]) == b'{"messages":[{"a":1}],"messages":[0,{"b":2}]}'


@pytest.mark.parametrize(
    ("content", "front", "behind"),
    [
        ("c", "n\n\nc", "c\n\nn"),
        ("", "n", "n"),
        (None, "n", "n"),
        ([], ["N"], ["N"]),
        (["P"], ["N", "P"], ["P", "N"]),
        ({"type": "text"}, ["N", {"type": "text"}], [{"type": "text"}, "N"]),
        (5, ["N", 5], [5, "N"]),
    ],
)
def test_merge_keeps_the_form_of_the_content(content: Any, front: Any, behind: Any) -> None:
    """A string stays a string; a list gets one more text part."""
    part = {"type": "text", "text": "n"}
    for expected, is_front in ((front, True), (behind, False)):
        got = edited({"role": "user", "content": content}, Merge(0, "n", front=is_front))
        parts = isinstance(expected, list)
        wanted = [part if one == "N" else one for one in expected] if parts else expected
        assert got == {"role": "user", "content": wanted}


def test_merge_into_a_message_without_content() -> None:
    """Missing content becomes the text."""
    assert edited({"role": "tool"}, Merge(0, "n", front=True)) == {"role": "tool", "content": "n"}


def test_merges_compose_in_the_order_given() -> None:
    """A later edit sees what an earlier one left."""
    edits = [Merge(0, "a", front=False), Merge(0, "b", front=False), Merge(0, "c", front=True)]
    assert edited({"content": "x"}, *edits)["content"] == "c\n\nx\n\na\n\nb"


def test_merge_mends_our_text_and_keeps_the_clients() -> None:
    """Lone halves of ours become U+FFFD; the client's stay escapes."""
    body = b'{"messages":[{"content":"a\\ud83d"}]}'
    got = apply(body, [Merge(0, "\ud83d", front=True)])
    assert got == '{"messages":[{"content":"\ufffd\\n\\na\\ud83d"}]}'.encode()


@pytest.mark.parametrize("front", [True, False])
def test_merge_leaves_the_clients_text_as_it_was_written(front: bool) -> None:  # noqa: FBT001 - a case's value
    """Escapes that nobody needs, halves and invalid bytes: ours is put beside them."""
    text = b"a\\/b \\u00e9 \\ud83d \xff"
    got = apply(b'{"messages":[{"content" : "%b"}]}' % text, [Merge(0, "n", front=front)])
    merged = b"n\\n\\n%b" % text if front else b"%b\\n\\nn" % text
    assert got == b'{"messages":[{"content":"%b"}]}' % merged


CALLS = [{"id": "c"}]


@pytest.mark.parametrize(
    ("message", "count", "expected"),
    [
        ({"content": "abcd"}, 2, {"content": "cd"}),
        ({"content": "ab"}, 5, {"content": ""}),
        ({"content": "ab"}, 0, {"content": "ab"}),
        ({"content": "a😀b"}, 2, {"content": "b"}),
        ({"content": "ab", "tool_calls": CALLS}, 2, {"content": None, "tool_calls": CALLS}),
        ({"content": "ab", "function_call": {"name": "x"}}, 2,
         {"content": None, "function_call": {"name": "x"}}),
        ({"content": None}, 2, {"content": None}),
        ({"role": "assistant"}, 2, {"role": "assistant"}),
        ({"content": [{"type": "text", "text": "ab", "k": 1}, {"type": "text", "text": "cd"}]}, 1,
         {"content": [{"type": "text", "text": "b", "k": 1}, {"type": "text", "text": "cd"}]}),
        ({"content": [{"type": "text", "text": "ab"}, {"type": "image"}, "cd"]}, 3,
         {"content": [{"type": "image"}, "d"]}),
        ({"content": [{"type": "thinking", "thinking": "zz"}, {"type": "text", "text": "ab"}]}, 1,
         {"content": [{"type": "thinking", "thinking": "zz"}, {"type": "text", "text": "b"}]}),
        ({"content": [{"type": "text", "text": "ab"}]}, 9, {"content": ""}),
    ],
)  # fmt: skip
def test_strip_cuts_the_front_of_the_text(message: Any, count: int, expected: Any) -> None:
    """Characters count over the text parts; parts that become empty go, other kinds stay."""
    assert edited(message, Strip(0, count)) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"reasoning": "abc", "reasoning_content": "abc"},
         {"reasoning": "c", "reasoning_content": "c"}),
        ({"reasoning_details": ["odd", {"text": "a"}, {"summary": "bc"}, {"data": "x"}]},
         {"reasoning_details": ["odd", {"summary": "c"}, {"data": "x"}]}),
        ({"content": [{"type": "thinking", "thinking": "abc"}, {"type": "text", "text": "t"}]},
         {"content": [{"type": "thinking", "thinking": "c"}, {"type": "text", "text": "t"}]}),
        ({"content": [{"type": "thinking", "thinking": "ab"}]}, {"content": ""}),
        ({"reasoning": 5, "content": "t"}, {"reasoning": 5, "content": "t"}),
    ],
)  # fmt: skip
def test_strip_cuts_the_front_of_the_reasoning(message: Any, expected: Any) -> None:
    """Every field that repeats the reasoning is cut alike."""
    assert edited(message, Strip(0, 0, 2)) == expected


def test_restore_puts_fields_back() -> None:
    """Fields are added as they are; one that is there already is exchanged."""
    got = apply(
        b'{"messages":[{"role":"assistant","reasoning":"old"}]}',
        [Restore(0, b'{"reasoning":"new","reasoning_details":[{"data":1.50}]}')],
    )
    assert got == (
        b'{"messages":[{"role":"assistant","reasoning":"new","reasoning_details":[{"data":1.50}]}]}'
    )


@pytest.mark.parametrize("edit", [Insert(2, (NOTE,)), Merge(1, "n", front=True), Strip(-1, 1)])
def test_place_that_is_not_there_is_refused(edit: Edit) -> None:
    """An edit beyond the conversation is our fault and says where it was meant to go."""
    with pytest.raises(ValueError, match=f"message {edit.at}, but there are 1"):
        apply(b'{"messages":[{}]}', [edit])


def test_body_without_messages_is_refused() -> None:
    """There is nothing to edit."""
    with pytest.raises(ValueError, match="no messages"):
        apply(b"{}", [Insert(0, (NOTE,))])


def test_quoted_keeps_lone_halves_as_escapes() -> None:
    """What UTF-8 cannot hold is escaped, everything else is written out."""
    assert quoted('é"') == '"é\\""'.encode()
    assert quoted("\ud83d") == b'"\\ud83d"'


TEXT = st.text('ab{}[]",\\\ud83dé', max_size=6)
MESSAGE = st.fixed_dictionaries(
    {"role": st.just("user")},
    optional={
        "content": st.none()
        | TEXT
        | st.lists(TEXT | st.fixed_dictionaries({"text": TEXT}), max_size=3),
        "n": st.integers(),
    },
)


@given(st.lists(MESSAGE, min_size=1, max_size=4), st.data(), st.sampled_from([None, 2]))
@settings(max_examples=80, deadline=None)
def test_edits_touch_nothing_but_their_message(
    messages: list[Any], data: st.DataObject, indent: int | None
) -> None:
    """Messages without an edit are in the new body byte for byte, in order."""
    body = json.dumps(
        {"a": [1], "messages": messages, "z": {"messages": []}}, indent=indent
    ).encode()
    at = data.draw(st.integers(0, len(messages) - 1))
    edits: list[Edit] = [
        Insert(at, (NOTE,)),
        Strip(at, 1),
        Merge(at, "note", front=data.draw(st.booleans())),
    ]
    changed = json.loads(apply(body, edits))
    rest = changed["messages"][:at] + changed["messages"][at + 2 :]
    assert rest == messages[:at] + messages[at + 1 :]
    assert changed["messages"][at] == json.loads(NOTE)
    assert (changed["a"], changed["z"]) == ([1], {"messages": []})
