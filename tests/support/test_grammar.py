"""The checker finds what it is there to find: a checker that accepts all proves nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.support.attempts import DONE, USAGE, attempts, chunk, tool, wire
from tests.support.grammar import check_stream

ROLE = chunk({"role": "assistant", "content": ""})
STOP = chunk(finish="stop")
CALLED = chunk(finish="tool_calls")
CALL = chunk(tool(0, "{}", id="x", name="read"))
NEXT = chunk(tool(1, "{}", id="y", name="read"))


@given(attempts(regular=True))
def test_checker_accepts_a_regular_upstream(chunks: list[Any]) -> None:
    """The grammar is that of an upstream that does everything right."""
    assert check_stream(wire(*chunks), include_usage=True) == []


@pytest.mark.parametrize(
    "stream",
    [
        [ROLE, STOP],
        [ROLE, DONE],
        [STOP, DONE],
        [ROLE, STOP, DONE, STOP],
        [ROLE, STOP, STOP, DONE],
        [ROLE, CALLED, DONE],
        [ROLE, CALL, STOP, DONE],
        [ROLE, chunk(answer_id="b", finish="stop"), DONE],
        [ROLE, ROLE, STOP, DONE],
        [ROLE, chunk(choices=None), STOP, DONE],
        [ROLE, chunk(error=None), STOP, DONE],
        [ROLE, chunk(choices=[{"index": 0, "delta": None}]), STOP, DONE],
        [ROLE, NEXT, CALLED, DONE],
        [ROLE, CALL, NEXT, chunk(tool(0, " ")), CALLED, DONE],
        [ROLE, CALL, chunk(tool(0, "", id="x")), CALLED, DONE],
        [ROLE, chunk(tool(0, "{}", name="read")), CALLED, DONE],
        [ROLE, chunk(tool(0, id="x", name="read")), CALLED, DONE],
        [ROLE, CALL, chunk({"content": "late"}), CALLED, DONE],
        [ROLE, CALL, chunk(choices=[]), CALLED, DONE],
        [ROLE, chunk(choices=[], usage=USAGE), STOP, DONE],
        [ROLE, chunk(finish="stop", usage=USAGE), DONE],
        [b"id: 1\n", ROLE, STOP, DONE],
        [b"retry: 1\n\n", ROLE, STOP, DONE],
        [b"event: note\n", ROLE, STOP, DONE],
        [b": ping\n\n", ROLE, STOP, DONE],
        [wire(ROLE).replace(b"\n", b"\r\n"), STOP, DONE],
        [wire(ROLE).replace(b",", b",\ndata: ", 1), STOP, DONE],
        [ROLE, STOP, DONE[:-1]],
    ],
)
def test_checker_refuses_each_irregularity(stream: list[Any]) -> None:
    """Every single departure from the grammar is reported."""
    assert check_stream(wire(*stream), include_usage=True) != []


def test_checker_refuses_usage_that_nobody_asked_for() -> None:
    """A usage chunk is right only where the request asked for it."""
    stream = wire(ROLE, STOP, chunk(choices=[], usage=USAGE), DONE)
    assert check_stream(stream, include_usage=True) == []
    assert check_stream(stream, include_usage=False) != []


def test_checker_forgives_an_irregular_first_attempt() -> None:
    """What an upstream did before the proxy wrote anything is not the proxy's fault."""
    stream = b"id: 1\r\n" + wire(chunk({"content": "x"}), ROLE, STOP, DONE)
    assert check_stream(stream, include_usage=False, first_attempt_regular=False) == []
