"""Text that goes out as it came takes a shorter way, and nothing of what comes of it shows that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.exchange import Exchange
from proxy.step import Step
from rules_engine.policy import ReleaseMode, TurnOptions
from rules_engine.ruleset import RuleSet
from tests.support.attempts import DONE, USAGE, chunk, tool
from tests.support.chunks import at_offsets
from tests.support.exchanges import Served, exchange_of, rendered, serve
from tests.support.random_turns import Wanted, rule_set, rules
from tests.support.rules import turn_of

WORDS = ("a", "b", "ab ", "b\n", "\U0001f600", "\u2028", "é", "aab", "")


def event(data: Any) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def says(text: str, **more: Any) -> bytes:
    return event(chunk({"content": text}, **more))


TEXT = st.sampled_from(WORDS).map(says)
ODD = st.sampled_from(
    [
        b": a comment\n\n",
        b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"\\ude00"}}]}\n\n',
        b"event: note\ndata: {}\n\n",
        b"id: 7\n" + says("a"),
        b"\n\n",
        b"data: nonsense\n\n",
        says("ab").replace(b"\n", b"\r\n"),
        says("b", answer_id="other"),
        event(chunk({"role": "assistant", "content": "a"})),
        event(chunk({"reasoning_content": "ab"})),
        event(chunk({"content": "b"}, choices=[{"index": 1, "delta": {"content": "ab"}}])),
        event(chunk(tool(0, "", id="c0", name="edit"))),
        event(chunk(tool(0, '{"new": "ab'))),
        event(chunk(choices=[], usage=USAGE)),
        event({"error": {"message": "busy"}}),
        event(chunk(finish="stop")),
        DONE,
    ]
)
# Mostly text, so that it flows, and something else now and then.
STREAMS = st.lists(st.one_of(TEXT, TEXT, TEXT, TEXT, ODD), min_size=1, max_size=40)
RELEASES = st.sampled_from([ReleaseMode.SAFE, ReleaseMode.CUT, ReleaseMode.WHOLE])


class LongWay(Exchange):
    """An exchange that looks at each event."""

    def read(self, data: bytes, now: float) -> Step | bytes:
        self._flows = False
        return super().read(data, now)


def cut(events: Sequence[bytes], sizes: Sequence[int]) -> list[bytes]:
    """So many events to a read, in turn."""
    reads: list[bytes] = []
    left = list(events)
    while left:
        size = sizes[len(reads) % len(sizes)]
        reads.append(b"".join(left[:size]))
        left = left[size:]
    return reads


def told(served: Served) -> list[Any]:
    """Everything that can be seen of a turn: what was sent with each read, and what it left."""
    exchange = served.exchange
    steps = [(step.reissue, step.complete, step.broken, step.failed) for step in served.steps]
    outlet = exchange._outlet
    counted = (outlet.text, outlet.thinking, outlet.backlog.count, exchange.holding, exchange.usage)
    ends = (exchange.turn.attempts, exchange.turn.released, rendered(exchange), served.faults)
    return [served.got, served.sent, served.seen, steps, counted, ends]


def played(
    exchange: type[Exchange],
    rule_set_: RuleSet,
    release: ReleaseMode,
    attempts: Sequence[list[bytes]],
) -> list[Any]:
    made = exchange_of(turn_of(rule_set_, TurnOptions(release=release)), of=exchange)
    bodies = {b"".join(reads): reads for reads in attempts}
    return told(serve(made, list(bodies), lambda body: bodies[body]))


@given(
    rules(),
    st.lists(STREAMS, min_size=1, max_size=2),
    RELEASES,
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
)
def test_short_way_changes_nothing(
    wanted: list[Wanted], streams: list[list[bytes]], release: ReleaseMode, sizes: list[int]
) -> None:
    """Read by read: what is sent, held, decided, recorded and left is that of the long way."""
    attempts = [cut(events, sizes) for events in streams]
    short = played(Exchange, rule_set(wanted), release, attempts)
    assert short == played(LongWay, rule_set(wanted), release, attempts)


@given(
    rules(),
    STREAMS,
    RELEASES,
    st.lists(st.integers(1, 3000), min_size=1, max_size=30),
)
def test_short_way_changes_nothing_wherever_reads_end(
    wanted: list[Wanted], stream: list[bytes], release: ReleaseMode, offsets: list[int]
) -> None:
    """Within an event, too."""
    attempts = [list(at_offsets(b"".join(stream), offsets))]
    short = played(Exchange, rule_set(wanted), release, attempts)
    assert short == played(LongWay, rule_set(wanted), release, attempts)
