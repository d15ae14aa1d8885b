"""One turn's answer where nothing but its own clock, store and client can be the cause."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from starlette.types import Message

from proxy.anchors import NO_MATCHES
from proxy.answer import Answer, TurnContext
from proxy.audit import Audit, TurnLabel
from proxy.client import Client
from proxy.conversation import spine
from proxy.exchange import Exchange
from proxy.forms import Forms
from proxy.headers import Field
from proxy.patience import Patience
from proxy.pending import Pending
from proxy.placing import Open
from proxy.pulse import Pulse
from proxy.quirks import PLAIN
from proxy.record import TurnRecorder
from proxy.store import SplicePlace, StoredSplice
from proxy.upstream import UpstreamResponse
from proxy.views import build
from proxy.wire.chat import WIRE_API
from rules_engine.policy import TurnOptions
from tests.support.chat import events
from tests.support.memory_store import MemoryAuditLog
from tests.support.responses import response
from tests.support.rules import rule_text, ruleset, turn_of

pytestmark = pytest.mark.anyio

STREAM: Sequence[Field] = ((b"content-type", b"text/event-stream"),)
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True})


class Splices:
    """A ledger that keeps what it is given, once `gate` is open."""

    def __init__(self) -> None:
        self.appended: list[bytes] = []
        self.gate: anyio.Event | None = None

    async def find(self, _tenant: str, _keys: Sequence[str]) -> Sequence[StoredSplice]:
        return ()

    async def append(
        self, _tenant: str, _places: Sequence[SplicePlace], payload: bytes, _now: float
    ) -> int:
        if self.gate is not None:
            await self.gate.wait()
        self.appended.append(payload)
        return 1

    async def amend(self, _tenant: str, _splice: int, _payload: bytes) -> None:
        return None


class Turned:
    """Serves one turn over fakes; `sent` is what the client got."""

    def __init__(self, opening: Open, **more: Any) -> None:
        self.sent: list[Message] = []
        self.ledger = Splices()
        self.pulse = Pulse()
        self.left = anyio.Event()
        self._log = MemoryAuditLog()
        self._audit = Audit(self._log)
        request = WIRE_API.read(BODY.encode())
        turn = turn_of(ruleset(foo=rule_text(condition="FORBIDDEN")), TurnOptions())
        pending = Pending.behind(request.messages, WIRE_API.user)
        exchange = Exchange(
            WIRE_API, request, turn, PLAIN, pending, limit=1 << 20, held_limit=1 << 20
        )
        self.recorder = TurnRecorder(
            self._audit, TurnLabel("c", "t", "agent", "m"), "", lambda: 1.0, 160
        )
        view = build(request.messages, NO_MATCHES, WIRE_API.user)
        given: dict[str, Any] = {
            "spine": spine(request.messages),
            "forms": Forms(WIRE_API, request, NO_MATCHES, view),
            "exchange": exchange,
            "tenant": "me",
            "ledger": self.ledger,
            "recorder": self.recorder,
            "open": opening,
            "wall": lambda: 1.0,
            "budget": 60.0,
            "patience": Patience(),
            "held_bytes": 1 << 20,
            "fail_mode": "open",
            "pulse": self.pulse,
        }
        self._answer = Answer(TurnContext(**(given | more)))

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def run(self) -> None:
        with anyio.fail_after(10):
            await self._answer({"type": "http"}, self.receive, self.send)


def opening(*answers: Sequence[bytes], unanswered: bool = False) -> Open:
    """Answer each request with the next stream; behind the last, with none or never."""
    left = list(answers)

    async def opened(_body: bytes) -> UpstreamResponse:
        if not left and unanswered:
            await anyio.sleep_forever()
        return response(*left.pop(0), headers=STREAM)

    return opened


INTERRUPTED = events("A ", "FORBIDDEN")


async def test_head_tells_proxies_in_between_not_to_buffer() -> None:
    """Fields that the upstream did not send are added, once."""
    turned = Turned(opening(events("fine")))
    await turned.run()
    assert dict(turned.sent[0]["headers"])[b"x-accel-buffering"] == b"no"
    assert turned.body == b"".join(events("fine"))


async def test_turn_that_leaves_nothing_stores_nothing() -> None:
    """A plain completion never waits for the ledger."""
    turned = Turned(opening(events("fine")))
    turned.ledger.gate = anyio.Event()
    await turned.run()
    assert turned.ledger.appended == []
    assert turned.recorder.outcome == "completed"


async def test_last_event_waits_for_the_ledger() -> None:
    """Read your own write: the end is sent once the splice would be found."""
    turned = Turned(opening(INTERRUPTED, events("B")), patience=Patience(ledger_write=60))
    turned.ledger.gate = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(turned.run)
        await anyio.wait_all_tasks_blocked()
        assert b'"B"' in turned.body
        assert b"[DONE]" not in turned.body
        turned.ledger.gate.set()
    assert turned.body.endswith(b"data: [DONE]\n\n")
    assert len(turned.ledger.appended) == 1


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_ledger_that_is_slow_is_not_waited_for(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A quarter of a second; then the end, or an error in its place, and the log says why."""
    turned = Turned(opening(INTERRUPTED, events("B")), fail_mode=mode)
    turned.ledger.gate = anyio.Event()
    begun = anyio.current_time()
    await turned.run()
    assert 0.2 < anyio.current_time() - begun < 2
    assert turned.recorder.unledgered
    assert (b"[DONE]" in turned.body) is (mode == "open")
    assert (b"ledger_unavailable" in turned.body) is (mode == "closed")
    assert "could not be stored: the store did not answer in time" in caplog.text


async def test_reissue_that_takes_too_long_ends_in_an_error() -> None:
    """The budget is named; what the client saw is remembered as a half message."""
    turned = Turned(opening(INTERRUPTED, unanswered=True), budget=0.05)
    await turned.run()
    error = json.loads(turned.body.strip().rpartition(b"data: ")[2])["error"]
    assert error["code"] == "turn_budget_spent"
    assert "turnBudget" in error["message"]
    assert turned.recorder.outcome == "turn_budget_spent"
    assert len(turned.ledger.appended) == 1


async def test_document_in_answer_to_a_reissue_continues_the_stream() -> None:
    """An upstream that answers a streamed request with a document is still understood."""
    whole = b'{"choices":[{"message":{"role":"assistant","content":"B"},"finish_reason":"stop"}]}'
    left = [
        response(*INTERRUPTED, headers=STREAM),
        response(whole, headers=((b"content-type", b"application/json"),)),
    ]

    async def opened(_body: bytes) -> UpstreamResponse:
        return left.pop(0)

    turned = Turned(opened)
    await turned.run()
    assert b'"B"' in turned.body
    assert turned.body.endswith(b"data: [DONE]\n\n")


async def test_end_of_the_proxy_ends_the_turn_with_an_error() -> None:
    """Between two attempts as in a stream; nothing pretends to be whole."""
    turned = Turned(opening(INTERRUPTED, unanswered=True))
    async with anyio.create_task_group() as group:
        group.start_soon(turned.run)
        await anyio.wait_all_tasks_blocked()
        turned.pulse.end()
    assert b"shutting_down" in turned.body
    assert b"[DONE]" not in turned.body
    assert not turned.sent[-1]["more_body"]


async def test_client_that_leaves_between_attempts_is_remembered() -> None:
    """What it saw of the abandoned attempt is stored although the turn was cancelled."""
    turned = Turned(opening(INTERRUPTED, unanswered=True))
    async with anyio.create_task_group() as group:
        group.start_soon(turned.run)
        await anyio.wait_all_tasks_blocked()
        turned.left.set()
    assert turned.recorder.outcome == "client left"
    assert len(turned.ledger.appended) == 1


async def test_key_that_an_upstream_repeats_is_not_repeated() -> None:
    """The error of a refused reissue says what the upstream said, without the credential."""
    left = [response(*INTERRUPTED, headers=STREAM),
            response(b'{"error": "bad key sk-abcdefgh12345678 for you"}', status=401)]  # fmt: skip

    async def opened(_body: bytes) -> UpstreamResponse:
        return left.pop(0)

    turned = Turned(opened)
    await turned.run()
    assert b"bad key [masked] for you" in turned.body
    assert b"sk-abcdefgh" not in turned.body


async def test_what_a_read_lets_go_is_out_before_its_task_goes_on() -> None:
    """Else what the next second lets go would overtake it."""
    turned = Turned(opening(events("Fine.")))
    client = Client(turned.send)
    body = events("All clear. ", "Fine.", finish="stop")
    step = turned._answer._take(client, b"".join(body))
    assert step is not None
    assert step.complete
    assert not step.send
    assert turned.body + step.last == b"".join(body)
    assert turned.body


async def test_what_a_fault_lets_go_waits_for_what_is_to_be_done_about_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the proxy must fail closed, none of it may go out."""
    turned = Turned(opening(events("Fine.")), fail_mode="closed")
    exchange = turned._answer._exchange

    def fail(*_: Any) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(exchange.turn, "pass_text", fail)
    step = turned._answer._take(Client(turned.send), b"".join(events("a", "b")))
    assert step is not None
    assert step.fault
    assert step.send
    assert not turned.body


async def test_a_client_that_reads_nothing_is_not_kept_awake() -> None:
    """Comments would pile up behind what it does not take."""
    turned = Turned(opening(events("Fine.")), patience=Patience(keep_alive=0))
    answer = turned._answer
    ready = anyio.Event()

    async def stalled(message: Any) -> None:
        await ready.wait()
        turned.sent.append(message)

    client = answer._client = Client(stalled)
    answer._live = answer._between = True
    for _ in range(20):
        answer.beat()
    ready.set()
    await client.flush()
    assert turned.body.count(b": keep-alive") == 1
