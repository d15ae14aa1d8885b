from __future__ import annotations

import json
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.arguments import DEPTH_LIMIT, ArgumentDecoder, ArgumentPath, ChangeKind

Told = tuple[list[tuple[ArgumentPath, str, list[int]]], list[Any], str | None]

TEXTS = st.text(
    st.sampled_from('ab "\\\n\t\u00e9\u2028{}[]:,') | st.sampled_from("\U0001f600\ud83d\ude00"),
    max_size=8,
)
VALUES = st.recursive(
    TEXTS | st.integers(-9, 99) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.builds(
    lambda value, ascii_only, indent: json.dumps(value, ensure_ascii=ascii_only, indent=indent),
    VALUES,
    st.booleans(),
    st.sampled_from([None, 1]),
)
GARBAGE = st.text(st.sampled_from('{}[]",:\\u0dD8e12 tn\n-\ud83d'), max_size=24)


def joined(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def unwrap_lists(path: ArgumentPath) -> bool:
    return len(path) == 1


def told(text: str, cuts: Iterable[int] = ()) -> Told:
    decoder = ArgumentDecoder(unwrap_lists)
    changes = []
    bounds = [0, *cuts, len(text)]
    for start, end in pairwise(bounds):
        changes += decoder.feed(text[start:end])
    changes += decoder.close()
    leaves = [
        (leaf.path, leaf.growth.text, [leaf.growth.arrival(n) for n in range(len(text) + 2)])
        for leaf in decoder.leaves
    ]
    steps = [(c.kind, c.path, c.at, c.piece) for c in changes if c.kind is not ChangeKind.GREW]
    return leaves, steps, decoder.fault


def strings(value: Any, path: ArgumentPath = ()) -> list[tuple[ArgumentPath, str]]:
    match value:
        case str():
            return [(path, joined(value))]
        case dict():
            return [
                leaf for key, one in value.items() for leaf in strings(one, (*path, joined(key)))
            ]
        case list():
            return [leaf for at, one in enumerate(value) for leaf in strings(one, (*path, at))]
        case _:
            return []


def decoded(text: str, cuts: Iterable[int] = ()) -> list[tuple[ArgumentPath, str]]:
    return [(path, content) for path, content, _ in told(text, cuts)[0]]


@given(DOCUMENTS | DOCUMENTS.map(json.dumps) | GARBAGE, st.data())
def test_decoder_gives_the_same_for_every_cutting(text: str, data: st.DataObject) -> None:
    """Whole, in single characters, and cut anywhere: texts, offsets, order and fault agree."""
    whole = told(text)
    assert told(text, range(1, len(text))) == whole
    cuts = data.draw(st.sets(st.integers(0, len(text)), max_size=5).map(sorted))
    assert told(text, cuts) == whole


@given(DOCUMENTS)
def test_decoder_cut_at_every_single_place_gives_the_same(text: str) -> None:
    """Any one cut changes nothing."""
    whole = told(text)
    assert all(told(text, [cut]) == whole for cut in range(1, len(text)))


@given(st.dictionaries(TEXTS.map(joined), VALUES, max_size=3), st.booleans())
def test_decoder_finds_what_json_finds(value: Any, ascii_only: bool) -> None:  # noqa: FBT001 - drawn
    """Every string value of a document comes out, decoded, under its path."""
    decoder = ArgumentDecoder()
    decoder.feed(json.dumps(value, ensure_ascii=ascii_only))
    decoder.close()
    assert decoder.complete
    assert [(leaf.path, leaf.growth.text) for leaf in decoder.leaves] == strings(value)


@given(DOCUMENTS, st.integers(0, 60))
def test_decoder_of_a_truncated_document_gives_a_beginning(text: str, length: int) -> None:
    """What a prefix of a document decodes to, the whole document begins with."""
    part, whole = decoded(text[:length]), decoded(text)
    for (path, content), (full_path, full) in zip(part, whole, strict=False):
        assert path == full_path
        assert full.startswith(content.rstrip("\ufffd")) or path == ()


@given(GARBAGE)
def test_decoder_never_raises(text: str) -> None:
    """Garbage stops the decoding and leaves a reason."""
    decoder = ArgumentDecoder()
    decoder.feed(text)
    decoder.close()
    assert decoder.complete == (decoder.fault is None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("hello", "'hello' is no JSON value"),
        ("*** Begin Patch", "unexpected '*'"),
        ('{"a" 1}', "unexpected '1'"),
        ("{]", "unexpected ']'"),
        ("[}", "unexpected '}'"),
        ('{"a": "b', "the arguments end before their JSON does"),
        ("{} {}", "unexpected '{'"),
        ("[" * (DEPTH_LIMIT + 1), f"nested deeper than {DEPTH_LIMIT}"),
        ("", "the arguments end before their JSON does"),
    ],
)
def test_decoder_says_what_is_wrong(text: str, fault: str) -> None:
    """A fault names what was met."""
    assert told(text)[2] == fault


def test_decoder_is_as_lenient_as_clients() -> None:
    """Raw control characters, unknown escapes and trailing commas do not stop it."""
    assert decoded('{"a": "x\ny\\d\\u12z\\\'", "b": ["c",],}') == [
        (("a",), "x\ny\\d\\u12z\\'"),
        (("b", 0), "c"),
    ]


def test_decoder_joins_escaped_halves() -> None:
    """A pair written as two escapes is one character; a lone half is U+FFFD."""
    assert decoded('["\\ud83d\\ude00", "\\ud83dx", "\\ude00", "\\ud83d"]') == [
        ((0,), "\U0001f600"),
        ((1,), "\ufffdx"),
        ((2,), "\ufffd"),
        ((3,), "\ufffd"),
    ]


def test_decoder_gives_every_value_of_a_duplicate_key() -> None:
    """Of a key that comes twice both values are told, in order."""
    assert decoded('{"a": "1", "a": "2"}') == [(("a",), "1"), (("a",), "2")]


def test_decoder_unwraps_arguments_that_are_a_json_string() -> None:
    """Arguments encoded twice decode as if encoded once, with offsets in the raw text."""
    text = json.dumps(json.dumps({"path": "a\n"}))
    leaves = told(text)[0]
    assert leaves[1][:2] == (("path",), "a\n")
    assert text[: leaves[1][2][2]].endswith("\\\\n")


def test_decoder_unwraps_only_where_structure_is_wanted() -> None:
    """A JSON file as the content of an argument stays text."""
    text = json.dumps({"content": '{"x": "y"}', "deep": {"edits": '["z"]'}})
    decoder = ArgumentDecoder(lambda path: path == ("deep", "edits"))
    decoder.feed(text)
    assert [leaf.path for leaf in decoder.leaves if leaf.wrapped is None] == [
        ("content",),
        ("deep", "edits", 0),
    ]


def test_decoder_tells_scalars_and_containers() -> None:
    """Numbers, literals, lists and objects are told with the offset behind them."""
    steps = told('{"a": null, "b": [-1.5e3]}')[1]
    assert [(path, at, piece) for _, path, at, piece in steps] == [
        (("a",), 10, "null"),
        (("b", 0), 24, "-1.5e3"),
        (("b",), 25, ""),
        ((), 26, ""),
    ]


def test_decoder_is_linear() -> None:
    """A long argument in tiny pieces takes seconds at most."""
    text = json.dumps({"content": 'let x = "y";\n' * 20_000})
    decoder = ArgumentDecoder()
    began = time.thread_time()
    for start in range(0, len(text), 4):
        decoder.feed(text[start : start + 4])
    assert time.thread_time() - began < 10
