from __future__ import annotations

import pytest

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
