from __future__ import annotations

import pytest

from proxy.wire.openai.chunk import parsed, written
from tests.support.attempts import (
    DONE,
    chunk,
    started,
)
from tests.support.grammar import answer, check_stream


def test_surrogate_halves_are_joined_over_events() -> None:
    """A pair cut over two deltas arrives as one character; a lone half cannot be written."""
    client = started()
    client.attempt(
        b'data: {"choices":[{"index":0,"delta":{"content":"a\\ud83d"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ude00b"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ude00c"}}],"x":"\\ud83d"}\n\n',
    )
    assert answer(client.got).text == "Hello a\U0001f600b\ufffdc"
    client.got.decode()


def test_line_separators_are_escaped() -> None:
    """Readers that split at Unicode line ends still see one line."""
    got = started().attempt(chunk({"content": "a\u2028b\u2029c\x85d"}))
    assert got.decode().count("\n") == len(got.decode().splitlines())
    assert answer(got).text == "a\u2028b\u2029c\x85d"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (b'data: {"error":{"message":"busy","code":529}}\n\n', "busy"),
        (b'data: {"error":"busy"}\n\n', "busy"),
        (b'event: error\ndata: {"message":"busy"}\n\n', "busy"),
        (b'data: [{"error":{"message":"busy"}}]\n\n', "busy"),
        (b'data: {"choices":[{"index":0,"delta":{},"error":{"message":"busy"}}]}\n\n', "busy"),
        (b'data: {"error":{"message":{"why":"busy"}}}\n\n', '{"why": "busy"}'),
    ],
)
def test_upstream_error_in_a_later_attempt_stays_an_error(event: bytes, message: str) -> None:
    """The client reads the failure in the shape that it knows, and no good end follows."""
    client = started()
    client.attempt(event, chunk(finish="stop"), DONE)
    stream = client.finish()
    assert check_stream(stream, include_usage=False, complete=False) == []
    (error,) = answer(stream).errors
    assert error["message"] == message
    assert not answer(stream).done
    assert answer(stream).finish is None


def test_numbers_beyond_json_are_null() -> None:
    """Not-a-number, infinities and endless integers would break what is written again."""
    data = '{"a": NaN, "b": -Infinity, "c": 1e999, "d": ' + "9" * 5000 + ', "e": 1.5}'
    assert parsed(data) == {"a": None, "b": None, "c": None, "d": None, "e": 1.5}
    assert parsed("no JSON") is None
    assert parsed("[" * 200_000) is None


def test_nesting_beyond_writing_gives_nothing() -> None:
    """A value too deep to be written is left out; the stream goes on."""
    deep: list[object] = []
    for _ in range(200_000):
        deep = [deep]
    assert written({"deep": deep}) == b""
