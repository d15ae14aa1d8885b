"""A client, a scripted upstream and an exchange between them, without any connection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proxy.conversation import Message
from proxy.exchange import Exchange
from proxy.pending import Pending
from proxy.quirks import PLAIN, Profile
from proxy.splice import Placement
from proxy.sse import SseEvent, SseReader
from proxy.step import Seen, Step
from proxy.wire import AttemptMessage, WireApi
from proxy.wire.chat import WIRE_API
from proxy.wire.chat.decoder import ChatDecoder
from rules_engine.structures import StructureResult
from rules_engine.turn import Turn
from tests.support.attempts import request

Reads = Callable[[bytes], Iterable[bytes]]


def exchange_of(
    turn: Turn,
    *,
    profile: Profile = PLAIN,
    include_usage: bool = False,
    limit: int = 1 << 20,
    held_limit: int = 1 << 20,
    reminders: Placement = Placement.INTO_TOOL,
    wire: WireApi = WIRE_API,
    of: type[Exchange] = Exchange,
) -> Exchange:
    """An exchange of a streaming chat request that ends on a user message."""
    pending = Pending.behind([Message("user", "Do it.", "", ())], WIRE_API.user)
    asked = request(include_usage=include_usage)
    return of(
        wire,
        asked,
        turn,
        profile,
        pending,
        limit=limit,
        held_limit=held_limit,
        reminders=reminders,
    )


@dataclass(slots=True)
class Served:
    """What became of a turn. `sent`: the client's bytes at the end of each read."""

    exchange: Exchange
    got: bytes = b""
    sent: list[int] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    searches: int = 0
    complete: bool = False
    broken: bool = False
    failed: bool = False

    @property
    def faults(self) -> list[str]:
        return [step.fault for step in self.steps if step.fault]


def serve(
    exchange: Exchange, bodies: Sequence[bytes], reads: Reads | None = None, *, breaks: bool = False
) -> Served:
    """Answer each attempt with the next body (the last one again and again) to the turn's end.

    Where more is held than may, rules are switched off, and searches that a step waits for are
    run, as the relay does it.
    `breaks`: every body ends in a broken connection.
    """
    served = Served(exchange)
    for number in range(20):
        body = bodies[min(number, len(bodies) - 1)]
        if not _attempt(served, list(reads(body)) if reads else [body], breaks=breaks):
            return served
        exchange.reissued(0.0)
    raise AssertionError("the turn does not end")


def _attempt(served: Served, reads: Sequence[bytes], *, breaks: bool) -> bool:
    """Play one attempt; answers whether another one is wanted."""
    exchange = served.exchange
    for data in reads:
        if _take(served, exchange.pass_rest(data) if served.complete else read(exchange, data)):
            return True
    return not served.complete and _take(served, exchange.end(0.0, broken=breaks))


def _take(served: Served, step: Step) -> bool:
    while step.check:
        served.searches += 1
        results = [StructureResult(job, job.search.run()) for job in step.check]
        step = step.then(served.exchange.checked(results, 0.0))
    if step.overheld:
        served.seen += step.seen
        served.got += step.send
        step = served.exchange.give_up()
    served.steps.append(step)
    served.seen += step.seen
    served.got += step.send
    if step.complete:
        assert not served.complete
        served.complete, served.broken, served.failed = True, step.broken, step.failed
        served.got += step.last
    served.sent.append(len(served.got))
    assert step.complete or not step.last
    return step.reissue


def read(exchange: Exchange, data: bytes, now: float = 0.0) -> Step:
    """What is to be done about more bytes, where there is no more to it than to send some, too."""
    told = exchange.read(data, now)
    return Step(send=told) if isinstance(told, bytes) else told


def message_of(stream: bytes) -> AttemptMessage:
    """The message that a client puts together."""
    reader, decoder = SseReader(), ChatDecoder(PLAIN)
    events: list[SseEvent] = list(reader.feed(stream))
    if (tail := reader.tail()) is not None:
        events.append(tail)
    for event in events:
        decoder.decode(event)
    decoder.close(broken=False)
    return decoder.message(0)


def rendered(exchange: Exchange) -> Any:
    """Everything that a turn leaves."""
    return exchange.splice(), exchange.client_message(), exchange.withheld_characters
