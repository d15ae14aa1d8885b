"""What a request costs before it goes upstream, held against one `orjson.loads` of its body.

`python -m bench.request [rounds]` prints one Markdown table. Every request goes through the real
relay, ledger included, up to where the upstream is asked. Figures are processor time of the
process, the ledger's thread included; what is told are ratios within one round. Beside them
stands how long the event loop stood still at most, and one that has nothing to do.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, cast

import anyio
import orjson
import uvloop
from starlette.requests import Request
from starlette.types import Message as AsgiMessage

from bench.conversations import body, with_images
from bench.findings import Section, at_most, main, table
from bench.rules import stalls
from proxy import anchors, splice
from proxy.agents import collect
from proxy.audit import Audit
from proxy.config import Settings
from proxy.conversation import spine
from proxy.errors import ConnectFailed
from proxy.headers import Field
from proxy.patience import Patience
from proxy.pulse import Pulse
from proxy.quirks import PLAIN
from proxy.relay import Relay, Services
from proxy.routing import Target
from proxy.splice import Delivery, Kept, Note, Placement, Splice, ToolNote
from proxy.store.sqlite import SqliteStore
from proxy.upstream import Upstream, UpstreamResponse
from proxy.wire.chat import WIRE_API
from rules_engine.ruleset import RuleSet

CHUNK = 64 * 1024
PATIENT = Patience(ledger_read=60)
MEGABYTE = 1_000_000
JUDGED = "500 messages, 2 MB"


@dataclass(frozen=True, slots=True)
class Case:
    """A request to measure. `cold`: it is sent to a proxy that has met none of its messages."""

    name: str
    body: bytes
    splices: int = 0
    cold: bool = False


@dataclass(slots=True)
class Sink:
    """Stands for the upstream: notes when it is asked, and refuses."""

    asked: float = 0.0
    body: bytes = b""

    async def open(
        self, _method: str, _path: bytes, _query: bytes, _headers: Sequence[Field], body: bytes
    ) -> UpstreamResponse:
        """Take the time."""
        self.asked, self.body = process_time(), body
        raise ConnectFailed("the bench sends nothing")


@dataclass(slots=True)
class Measured:
    """What the rounds gave: processor seconds, and seconds that the loop stood still.

    `read`: of one `orjson.loads` right before.
    """

    spent: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)
    stalls: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Round by round."""
        return [spent / read for spent, read in zip(self.spent, self.read, strict=True)]

    def sides(self) -> tuple[str, str]:
        """The two that are compared, in milliseconds."""
        spent, read = (statistics.median(each) * 1e3 for each in (self.spent, self.read))
        return f"{spent:.1f} ms", f"{read:.1f} ms"

    def cells(self) -> list[str]:
        """As it stands in the table."""
        ratios = self.ratios
        return [
            f"{statistics.median(ratios):.2f}x ({min(ratios):.2f}-{max(ratios):.2f})",
            self.sides()[0],
            f"{statistics.median(self.stalls) * 1e3:.1f} ms",
            f"{statistics.median(self.idle) * 1e3:.1f} ms",
        ]


def cases() -> Iterator[Case]:
    """Requests as agents send them, and larger ones."""
    plain = body(500, 2 * MEGABYTE)
    yield Case("20 messages, 80 KB", body(20, 80_000))
    yield Case(JUDGED, plain)
    yield Case("the same, one splice", plain, 1)
    yield Case("the same, ten splices", plain, 10)
    yield Case("the same, none of it met before", plain, cold=True)
    yield Case("the same in ASCII, half a character in it", body(500, 2 * MEGABYTE, escaped=True))
    yield Case("1,000 messages, 4 MB", body(1000, 4 * MEGABYTE))
    yield Case("2,000 messages, 16 MB", body(2000, 16 * MEGABYTE))
    yield Case("2,000 messages, 16 MB, ten splices", body(2000, 16 * MEGABYTE), 10)
    yield Case("20 pictures, 20 MB", with_images(20, MEGABYTE))


@asynccontextmanager
async def services_for(case: Case, place: Path) -> AsyncIterator[tuple[Services, Sink]]:
    """What a relay runs with; the ledger holds the case's splices."""
    url = "http://127.0.0.1:9/v1"
    settings = Settings.model_validate({"upstream": {"url": url}, "limits": {"body": "1GiB"}})
    store = await SqliteStore.open(place / "ledger.db")
    await fill(store, case)
    sink = Sink()
    services = Services(
        settings=settings,
        upstream=cast("Upstream", sink),
        store=store,
        audit=Audit(store),
        rules=no_rules,
        directory=lambda: str(place),
        agents=collect(),
        quirks=lambda _model: PLAIN,
        loopback=True,
        wall=lambda: 0.0,
        pulse=Pulse(),
        patience=PATIENT,
    )
    try:
        yield services, sink
    finally:
        await store.close()


async def no_rules(_label: str | None, _role: str) -> RuleSet:
    """Rules cost nothing here: they are matched against answers."""
    return RuleSet("", (), (), ())


async def fill(store: SqliteStore, case: Case) -> None:
    """Leave what interrupts and reminders leave, spread over the conversation."""
    messages = WIRE_API.read(case.body).messages
    bones = [at for at, message in enumerate(messages) if message.role == "assistant"]
    for number in range(case.splices):
        at = bones[(number + 1) * len(bones) // (case.splices + 1)]
        left = splice.encode(interrupt() if number % 2 else reminder())
        found_by = anchors.places(messages[at], spine(messages[:at]))
        await store.append("local", found_by, left, 0.0)


def interrupt() -> Splice:
    return Splice(before=(Kept(WIRE_API.partial("I will use any"), partial=True), note()))


def reminder() -> Splice:
    told = note(Placement.INTO_TOOL)
    return Splice(tool_notes=(ToolNote(0, "edit", told), ToolNote(0, "read", told)))


def note(placement: Placement = Placement.OWN) -> Note:
    text = "Do not use `any`. " * 20
    return Note(text, WIRE_API.user(text), placement, (Delivery("no-any", "hash"),))


def request_of(data: bytes) -> Request:
    """The request as the server would hand it over."""
    pieces = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]
    coming = iter(pieces)
    left = len(pieces)

    async def receive() -> AsgiMessage:
        nonlocal left
        left -= 1
        return {"type": "http.request", "body": next(coming), "more_body": left > 0}

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "headers": [(b"user-agent", b"opencode/1.0"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
    }
    return Request(scope, receive)


async def cost(relay: Relay, sink: Sink, data: bytes) -> float:
    """Processor seconds from the request to the question to the upstream."""
    request = request_of(data)
    began = process_time()
    answer = await relay(request, Target(b"/chat/completions"))
    await answer(request.scope, never, swallow)
    return sink.asked - began


async def never() -> AsgiMessage:
    """The client stays."""
    await anyio.sleep_forever()
    raise AssertionError


async def swallow(_message: AsgiMessage) -> None:
    """Nobody reads the answer."""


async def stand_still(relay: Relay, sink: Sink, data: bytes, found: Measured) -> None:
    """Note how long the loop stood still during one request, and with nothing to do for as long."""
    began = perf_counter()
    async with stalls() as busy:
        await cost(relay, sink, data)
    took = perf_counter() - began
    async with stalls() as idle:
        await asyncio.sleep(took)
    found.stalls.append(busy.longest)
    found.idle.append(idle.longest)


def yardstick(data: bytes) -> float:
    """Processor seconds of one reading; a body that orjson refuses is read as if it were whole."""
    data = data.replace(b"\\ud83d", b"\\ufffd")
    began = process_time()
    orjson.loads(data)
    return process_time() - began


async def measure(case: Case, rounds: int) -> Measured:
    """One case, so often that a median means something."""
    found = Measured()
    with tempfile.TemporaryDirectory() as place:
        async with services_for(case, Path(place)) as (services, sink):
            met = Relay(services, WIRE_API)
            await cost(met, sink, case.body)
            assert (sink.body != case.body) == bool(case.splices)
            for _ in range(rounds):
                used = Relay(services, WIRE_API) if case.cold else met
                found.read.append(yardstick(case.body))
                found.spent.append(await cost(used, sink, case.body))
                used = Relay(services, WIRE_API) if case.cold else met
                await stand_still(used, sink, case.body, found)
    return found


async def measured(rounds: int) -> Section:
    # As the server does once it has started.
    gc.collect()
    gc.freeze()
    found = {case.name: await measure(case, rounds) for case in cases()}
    head = (
        "request",
        "CPU before the upstream is asked",
        "the same",
        "longest stall",
        "the same, idle",
    )
    judged = statistics.median(found[JUDGED].ratios)
    what = "CPU of a request with 500 messages and 2 MB, against one orjson.loads of it"
    return Section(
        "Long conversations",
        [
            "Ratios to one `orjson.loads` of the body: median (least-greatest) of the rounds.",
            "",
            *table(head, [[name, *each.cells()] for name, each in found.items()]),
        ],
        [at_most("17", what, 2, judged, "x", sides=found[JUDGED].sides())],
    )


def section(rounds: int) -> Section:
    """Measure everything."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(measured(rounds))


if __name__ == "__main__":
    main(section, 7)
