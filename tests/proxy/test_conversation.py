"""Messages are known again by what is left once spacing and JSON style are taken away."""

from __future__ import annotations

import json
import time
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation import (
    RUN,
    Call,
    Key,
    KeyKind,
    Memory,
    Message,
    canonical,
    counted,
    hashed,
    marks,
    normalised,
    own_ids,
    spine,
    vertebra,
    well_formed,
)

LONG = "0123456789" * 5


def kinds(message: Message) -> list[str]:
    return [key.kind.value for key in vertebra(message).keys]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a b\n\tc\u00a0d\u2028e\ufeff", "abcde"),
        ("<think>why</think>\n\nbecause", "because"),
        ("<thinking>x</thinking>a<mm:think>y</mm:think>b", "ab"),
        ("<think>cut in thou", ""),
        ("  <think>cut", ""),
        ("say <think> to it", "say<think>toit"),
        ("<think>a<think>b</think>c", "c"),
        ("a</think>b", "a</think>b"),
        ("<thinker>x", "<thinker>x"),
        ("\ud83d\ude00 \ud83d", "\U0001f600\ufffd"),
        ("", ""),
    ],
)
def test_normalised_drops_white_space_and_think_blocks(text: str, left: str) -> None:
    """White space and paired think blocks go; an open block counts only at the front."""
    assert normalised(text) == left


def test_normalised_is_linear_in_openers_that_never_close() -> None:
    """A text full of openers costs one pass."""
    started = time.thread_time()
    normalised("a" + "<think>" * 150_000 + "<thinking>" * 150_000)
    assert time.thread_time() - started < 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"b":1,"a":[1.0,2e0]}', '{ "a" : [1, 2], "b" : 1 }'),
        ('{"a":"\\u00e9"}', '{"a":"é"}'),
        ('{"a":12345678901234567890}', '{"a":12345678901234567000}'),
        ('{"a":-0}', '{"a":0}'),
        ('{"a":1e400}', '{"a":null}'),
        ('{"a":1,"a":2}', '{"a":2}'),
        ("", "{}"),
        (" \n", "{}"),
        ('{"a":"line\nbreak"}', '{"a":"line\\nbreak"}'),
    ],
)
def test_canonical_arguments_are_equal_whatever_the_client_printed(one: str, other: str) -> None:
    """Key order, spacing, escapes and number style make no difference."""
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize("raw", ['{"a":', "NaN", '{"a":NaN}', "ls -la", "[" * 100_000])
def test_canonical_leaves_what_it_cannot_parse(raw: str) -> None:
    """Unparsable arguments are taken as received."""
    assert canonical(raw) == raw


def test_canonical_tells_a_string_from_a_number() -> None:
    """Types stay apart."""
    assert len({canonical(form) for form in ('{"a":1}', '{"a":"1"}', '{"a":true}')}) == 3


@pytest.mark.parametrize(
    ("call_id", "name", "expected"),
    [
        ("call_0", "x", True),
        ("call_1234", "x", True),
        ("call_12345", "x", False),
        ("7", "x", True),
        ("functions.read:0", "read", True),
        ("functions.read2:0", "read2", True),
        ("read_3", "read", True),
        ("read", "read", True),
        ("tool-call-12", "x", True),
        ("Call-1", "x", True),
        ("functions.read:0", "write", False),
        ("call_a1b2", "x", False),
        ("D681PevKs", "x", False),
        ("chatcmpl-tool-0", "x", False),
    ],
)
def test_counted_ids_are_told_from_given_ones(call_id: str, name: str, expected: bool) -> None:  # noqa: FBT001 - a column
    """A count of at most four digits, alone or behind fixed words or the name, tells nothing."""
    assert counted(call_id, name) is expected


def test_own_ids_leave_out_missing_counted_and_repeated_ones() -> None:
    """Only ids that tell a call from all others are used."""
    calls = [
        Call(None, "a", ""),
        Call("", "a", ""),
        Call("call_0", "a", ""),
        Call("call_Xy9", "a", ""),
        Call("call_Xy9", "b", ""),
    ]
    assert own_ids(calls) == ("call_Xy9",)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Message("assistant", ""), []),
        (Message("assistant", "hi"), ["whole", "part"]),
        (Message("assistant", LONG), ["whole", "part", "head"]),
        (Message("assistant", "", calls=(Call("call_0", "a", "{}"),)), ["whole", "part"]),
        (
            Message("assistant", "hi", calls=(Call("toolu_9", "a", "{}"),)),
            ["call", "whole", "part", "part"],
        ),
    ],
)
def test_vertebra_has_its_keys_strongest_first(message: Message, expected: list[str]) -> None:
    """Empty text and absent calls give no key."""
    assert kinds(message) == expected


def test_vertebra_is_the_same_after_a_client_printed_it_again() -> None:
    """Spacing, think blocks and JSON style change neither keys nor fingerprint."""
    got = Message(
        "assistant",
        "<think>hm</think>\n\nIt  works.",
        calls=(Call("id_x", "w", '{"b":1.0,"a":2}'),),
    )
    sent = Message("assistant", "It works. ", calls=(Call("id_x", "w", '{"a": 2, "b": 1}'),))
    assert vertebra(got) == vertebra(sent)


def test_vertebra_tells_text_from_arguments_and_calls_from_each_other() -> None:
    """Moving a border between two parts changes the key."""
    messages = [
        Message("assistant", "a", calls=(Call(None, "b", "c"),)),
        Message("assistant", "ab", calls=(Call(None, "", "c"),)),
        Message("assistant", "a", calls=(Call(None, "bc", ""),)),
        Message("assistant", "a", calls=(Call(None, "b", "c"), Call(None, "b", "c"))),
    ]
    assert len({vertebra(message).fingerprint for message in messages}) == 4


def test_spine_holds_assistant_messages_and_runs_nearest_first() -> None:
    """A run reaches back over at most eight messages."""
    messages = [
        Message(role, f"{role} {number}") for number in range(12) for role in ("user", "assistant")
    ]
    read = spine(messages)
    assert [bone.at for bone in read.vertebrae] == list(range(1, 24, 2))
    prints = [bone.fingerprint for bone in read.vertebrae]
    assert read.run_before(0) == ()
    assert read.run_before(2) == (prints[1], prints[0])
    assert read.run_before(12) == tuple(reversed(prints[-RUN:]))


@given(st.text(alphabet=st.characters(), max_size=40), st.text(max_size=20))
def test_vertebra_reads_any_text_and_any_arguments(text: str, arguments: str) -> None:
    """Lone surrogates and broken JSON raise nothing."""
    vertebra(Message("assistant", text, calls=(Call(text, arguments, arguments + text),)))
    well_formed(text).encode()


def test_halves_of_characters_are_one_mark() -> None:
    """A lone half is as good as the replacement that a client made of it."""
    one, other = (
        Message("assistant", f"a{half}", calls=(Call("toolu_1a2b3", f"n{half}", f"x{half}"),))
        for half in ("\ud83d", "\ufffd")
    )
    assert vertebra(one) == vertebra(other)


def test_spine_is_quick_on_a_long_conversation() -> None:
    """Five hundred messages of two megabytes are read in well under a second."""
    arguments = json.dumps({"content": "x = 1\n" * 700})
    messages = [
        message
        for number in range(167)
        for message in (
            Message("user", "go on"),
            Message(
                "assistant", "<b>" + "word " * 1600, calls=(Call(f"c{number}", "w", arguments),)
            ),
            Message("tool", "ok", call_id=f"c{number}"),
        )
    ]
    started = time.thread_time()
    spine(messages)
    assert time.thread_time() - started < 1


def test_key_prints_as_kind_and_digest() -> None:
    """A store keeps `<kind>:<digest>`."""
    key = vertebra(Message("assistant", "hi")).keys[0]
    assert str(key) == f"{KeyKind.WHOLE}:{key.digest}"


class Stamped(Message):
    """A message that is known by its text."""

    @property
    def stamp(self) -> bytes:
        return self.text.encode()


def test_memory_gives_the_marks_that_a_reading_gives() -> None:
    """Nothing is decided by what was met before."""
    memory = Memory()
    messages = [Stamped("assistant", f"said {number % 3}") for number in range(9)]
    assert spine(messages, memory) == spine(messages) == spine(messages, memory)
    assert memory.read == 3


def test_memory_gives_back_every_kind_of_key() -> None:
    """Also of messages that have no key at all."""
    memory = Memory()
    calls = (Call("toolu_1a2b3", "a b", '{"x": "y z"}'), Call(None, "", ""))
    texts = (" ", "short and wide", LONG)
    messages = [Stamped("assistant", text) for text in texts]
    messages += [Stamped("assistant", f"{text} ", calls=calls) for text in texts]
    for message in messages * 2:
        assert memory.marks(message) == marks(message)
    assert memory.read == len(messages)


def test_memory_is_bounded_and_keeps_what_is_in_use() -> None:
    """Two generations at most; a message that comes with every request stays known."""
    memory = Memory(most=4)
    used = Stamped("assistant", "used")
    for number in range(50):
        memory.marks(used)
        memory.marks(Stamped("assistant", f"{number}"))
        assert len(memory._young) + len(memory._old) <= 8
    assert memory.read == 51


def test_memory_forgets_what_it_cannot_tell_apart() -> None:
    """A message without a stamp is read each time."""
    memory = Memory()
    for text in ("a", "b"):
        assert (
            memory.marks(Message("assistant", text)) == vertebra(Message("assistant", text)).marks
        )
    assert memory.read == 2


def test_key_is_read_from_its_name() -> None:
    """What a store keeps says what it is made of."""
    for key in vertebra(Message("assistant", LONG, calls=(Call("toolu_1a2b3", "x", ""),))).keys:
        assert Key.named(str(key)) == key


@pytest.mark.parametrize("size", [0, 1, 2046, 2047, 2048, 4094, 4095, 100_000])
def test_hash_is_that_of_the_whole(size: int) -> None:
    """However many pieces it is made in: ledgers hold it."""
    data = bytes(number % 251 for number in range(size))
    assert hashed(data) == blake2b(data, digest_size=16).digest()
