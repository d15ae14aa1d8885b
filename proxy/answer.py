"""Answers one chat request: runs its turn over real connections, step by step.

Every phase ends when the client leaves: waiting for the upstream's head, reading its body,
between attempts. The upstream is closed first, before anything else is awaited.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from proxy import anchors, searching, splice
from proxy.body import Body
from proxy.client import LEAVING, WRITING, BrokenAnswer, Client, until_client_leaves
from proxy.conversation import Spine
from proxy.errors import (
    BudgetSpent,
    Fault,
    IdleTimeout,
    LedgerDown,
    RulesDown,
    Stopping,
    UpstreamBroken,
    UpstreamFault,
)
from proxy.exchange import Exchange
from proxy.forms import Forms
from proxy.headers import Field, first, to_client, without_framing
from proxy.patience import Patience
from proxy.placing import Form, Open, open_placed, patient
from proxy.pulse import Pulse
from proxy.record import TurnRecorder
from proxy.reissue import Unanswered, whole_answer
from proxy.sse import EventTooLarge
from proxy.step import Step
from proxy.store import Ledger, StoreUnavailable
from proxy.upstream import UpstreamResponse
from proxy.waiting import cancel_scope, within

log = logging.getLogger(__name__)

_EXHAUSTED = 422  # no SDK retries it; the same request would spend as many attempts again
_NO_CONTENT = 204
_ERROR_BODY = 4096  # bytes of an error answer that are read
_UNBUFFERED = ((b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no"))


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What a turn runs with. `open` sends a body upstream; `wall` gives Unix time.

    `forms`: the bodies in which its requests may go out. `spine`: the conversation's.
    `budget`: seconds for everything between two released deltas.
    """

    spine: Spine
    forms: Forms
    exchange: Exchange
    tenant: str
    ledger: Ledger
    recorder: TurnRecorder
    open: Open
    wall: Callable[[], float]
    budget: float
    patience: Patience
    held_bytes: int
    fail_mode: Literal["open", "closed"]
    pulse: Pulse


class Answer(Response):
    """The answer to one chat request, over ASGI."""

    def __init__(self, context: TurnContext) -> None:
        self.background = None
        self._context = context
        self._exchange = context.exchange
        self._client: Client  # once it is served
        self._response: UpstreamResponse | None = None
        self._live = False  # a stream is under way
        self._between = False
        self._stored = False
        self._running = cancel_scope()  # ends when the client leaves, or by `stop`
        self._stopped = False
        self._now = asyncio.get_running_loop().time
        self._fault: RulesDown | None = None  # why the turn was stopped, where the proxy goes on

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve; ends by itself when the client leaves."""
        client = self._client = Client(send, scope.get(WRITING))
        self._context.pulse.join(self)
        try:
            leaving = scope.get(LEAVING)
            await until_client_leaves(receive, self._serve(client), leaving, self._running)
            if self._stopped and self._running.cancelled_caught:
                await self._stop(client)
        finally:
            self._live = False
            self._context.pulse.leave(self)
            self._record("client left")

    def beat(self) -> None:
        """Let time pass for the turn, and keep a waiting client awake."""
        if not self._live:
            return
        client, now = self._client, self._now()
        try:
            if not self._between:
                step = self._exchange.tick(now)
                self._look_at(step)
                if step.send:
                    client.write_soon(step.send)
                    return
        except RulesDown as fault:
            self._fault = fault
            self.stop()
            return
        # One that does not read would have comments pile up, and needs none to stay awake.
        waiting = (self._between or self._exchange.holding) and not client.waits
        if waiting and now - client.last_sent >= self._context.patience.keep_alive:
            client.write_soon(self._exchange.continuation.keep_alive())

    def stop(self) -> None:
        """Come to an end: the proxy's has come, or the turn may not go on without rules."""
        self._stopped = True
        self._running.cancel()

    async def _serve(self, client: Client) -> None:
        try:
            await self._run(client)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._close_upstream()
                if not self._stopped:
                    await self._left()
            raise
        finally:
            await self._close_upstream()

    async def _run(self, client: Client) -> None:
        try:
            opened = await open_placed(self._context.open, self._context.forms.at_start())
            self._read_from(opened.response)
            body = Body(opened.response)
            if _success(opened.response):
                await self._keep_form(opened.form)
            if not _success(opened.response):
                await self._pass_on(client, opened.response, body)
            elif await body.is_event_stream():
                await self._stream(client, opened.response, body)
            else:
                await self._document(client, body)
        except Fault as fault:
            self._record(fault.code)
            if client.started:
                raise BrokenAnswer from fault
            await client.fault(fault)

    # ---- a streamed answer

    async def _stream(self, client: Client, response: UpstreamResponse, body: Body) -> None:
        await client.start(response.status, _stream_head(response))
        self._live = True
        try:
            while True:
                step = await self._attempt(client, body)
                if not step.reissue:
                    break
                await self._close_upstream()
                await client.write(step.send)
                body = await self._next_stream()
        except (Unanswered, Fault) as failure:
            await self._fail(client, failure)
            return
        await self._complete(client, step, body)

    async def _attempt(self, client: Client, body: Body) -> Step:
        """Read one attempt to where it is over; returns the step that says so, not yet sent."""
        while True:
            step = await self._checked(await self._next_step(client, body), client)
            self._look_at(step)
            if step.overheld:
                await client.write(step.send)
                self._rules_off("more is held than limits.heldBytes allows")
                step = self._exchange.give_up()
                self._look_at(step)
            if step.over:
                return step
            await client.write(step.send)

    async def _next_step(self, client: Client, body: Body) -> Step:
        """Read on until there is more to do than to send: that is done where bytes arrive."""
        exchange = self._exchange
        take = partial(self._take, client)
        try:
            await client.flush()
            if not exchange.finish_seen:
                return await body.until(take)
            with anyio.move_on_after(self._context.patience.finish_reason):
                return await body.until(take)
            return exchange.settle(self._now())
        except EventTooLarge as problem:
            self._rules_off(str(problem))
            if exchange.turn.attempts > 1:
                # It would have to be written anew, which takes reading it.
                raise UpstreamBroken(str(problem)) from None
            return exchange.pass_rest(problem.rest)
        except IdleTimeout:
            raise
        except UpstreamFault as fault:
            self._end_as(fault.code)
            return exchange.end(self._now(), broken=True)

    def _take(self, client: Client, data: bytes) -> Step | None:
        """Take in what came; None where all is done, or else what is left to do."""
        exchange = self._exchange
        if not data:
            return exchange.end(self._now(), broken=False)
        step = exchange.read(data, self._now())
        if isinstance(step, bytes):
            return None if client.write_now(step) else Step()
        if step.only_sends:
            passed = not step.send or client.write_now(step.send)
            return None if passed and not exchange.finish_seen else Step()
        if step.close_upstream and self._response is not None:
            self._response.abort()
        if step.send and not step.fault:
            # What time lets go, as it passes before the task goes on, comes behind it.
            client.write_now(step.send)
            step.send = b""
        return step

    async def _checked(self, step: Step, client: Client | None = None) -> Step:
        """Run the searches that a step waits for; a client that is given need not wait for them."""
        while step.check:
            if client is not None:
                await client.flush()
                await client.write(step.send)
                step.send = b""
            results = await searching.search(step.check, self._context.patience.structures)
            step = step.then(self._exchange.checked(results, self._now()))
        return step

    async def _complete(self, client: Client, step: Step, body: Body) -> None:
        """Store what the turn leaves, then send the last bytes and end as the upstream did."""
        await client.write(step.send)
        unfinished = step.broken or step.failed
        if not await self._store(left=unfinished) and self._context.fail_mode == "closed":
            await self._fail(client, LedgerDown("the ledger did not take what this turn leaves"))
            return
        await client.write(step.last)
        self._end_as("failed" if step.failed else "completed")
        if step.broken:
            raise BrokenAnswer
        if self._exchange.passes_on:
            with anyio.move_on_after(self._context.patience.end_mark):
                await self._pass_rest(client, body)
        await self._close_upstream()
        self._live = False
        self._record("completed")
        await client.end()

    async def _pass_rest(self, client: Client, body: Body) -> None:
        """Pass on what stands behind the end mark, a break there too."""
        try:
            while data := await body.read():
                await client.write(self._exchange.pass_rest(data).send)
        except UpstreamFault as fault:
            raise BrokenAnswer from fault

    # ---- a whole answer

    async def _document(self, client: Client, body: Body) -> None:
        if self._exchange.turn.plan().idle:
            assert self._response is not None
            await self._pass_on(client, self._response, body)
            return
        while True:
            data = await body.rest(self._context.held_bytes)
            if len(data) > self._context.held_bytes:
                self._rules_off("the answer is larger than limits.heldBytes allows")
                assert self._response is not None
                await self._pass_on(client, self._response, body, data)
                return
            step = await self._checked(self._exchange.document(data, self._now()))
            self._look_at(step)
            if not step.reissue:
                break
            await self._close_upstream()
            opened = await self._reissued()
            body = Body(opened)
            if not _success(opened):
                await self._pass_on(client, opened, body)
                return
            if await body.is_event_stream():
                await self._stream(client, opened, body)
                return
        await self._whole(client, step)

    async def _whole(self, client: Client, step: Step) -> None:
        assert self._response is not None
        if not await self._store(left=step.failed) and self._context.fail_mode == "closed":
            raise LedgerDown("the ledger did not take what this turn leaves", retry_after=1)
        self._record("failed" if step.failed else "completed")
        head = without_framing(to_client(self._response.headers))
        await self._close_upstream()
        status = _EXHAUSTED if step.exhausted else self._response.status
        await client.whole(status, head, step.last)

    async def _pass_on(
        self, client: Client, response: UpstreamResponse, body: Body, ahead: bytes = b""
    ) -> None:
        """The upstream's own answer, byte for byte (its content coding undone if we can)."""
        await client.start(response.status, _passed_head(response))
        await client.write(ahead)
        while data := await body.read():
            await client.write(data)
        done = "completed" if _success(response) else f"upstream status {response.status}"
        self._record(done)
        await client.end()

    # ---- between attempts

    async def _next_stream(self) -> Body:
        response = await self._reissued()
        body = Body(response)
        if not _success(response) or response.status == _NO_CONTENT:
            raise Unanswered(response.status, await body.rest(_ERROR_BODY))
        if await body.is_event_stream():
            return body
        document = await body.rest(self._context.held_bytes)
        if len(document) > self._context.held_bytes:
            self._rules_off("the answer is larger than limits.heldBytes allows")
            raise UpstreamBroken("the reissued request's answer is larger than limits.heldBytes")
        return whole_answer(response.status, document)

    async def _reissued(self) -> UpstreamResponse:
        self._between = True
        try:
            with anyio.fail_after(self._context.budget):
                opening = patient(self._context.open, self._now() + self._context.budget)
                opened = await open_placed(
                    opening, self._context.forms.between(self._exchange.pending)
                )
        except TimeoutError:
            raise BudgetSpent(
                "the answer was stopped by a rule, and the reissued request was not answered "
                f"within {self._context.budget:g} s; raise turnBudget if the upstream may take "
                "longer"
            ) from None
        finally:
            self._between = False
        self._read_from(opened.response)
        self._exchange.reissued(self._now())
        if not _success(opened.response):
            return opened.response
        match opened.form:
            case Form.FLIPPED:
                self._exchange.pending = self._exchange.pending.flipped()
            case Form.BARE:
                self._exchange.unplaceable = True
            case Form.PLACED | Form.UNLAYERED:
                pass
        return opened.response

    async def _keep_form(self, form: Form) -> None:
        """Write to the splices in which placement the upstream took them, if not as they were."""
        context = self._context
        amended = context.forms.settle(form)
        if not amended:
            return
        try:
            with anyio.move_on_after(context.patience.ledger_write):
                for number, payload in amended:
                    await context.ledger.amend(context.tenant, number, payload)
        except StoreUnavailable as problem:
            log.warning("a placement could not be stored: %s", problem)

    # ---- ends

    async def _store(self, *, left: bool) -> bool:
        """Store the turn's splice; False where the store did not take it in time."""
        exchange, context = self._exchange, self._context
        try:
            left_behind = exchange.splice(left=left)
            if left_behind is None or self._stored:
                return True
            found_by = anchors.places(exchange.client_message(), context.spine, head=left)
        except Exception:  # noqa: BLE001 - a fault of ours must not harm the stream
            log.error("a fault of ours: what a turn leaves cannot be told")  # noqa: TRY400 - content
            context.recorder.unledgered = True
            return False
        if not found_by:
            return True
        try:
            payload = splice.encode(left_behind)
            append = context.ledger.append(context.tenant, found_by, payload, context.wall())
            await within(context.patience.ledger_write, append)
        except (StoreUnavailable, TimeoutError) as problem:
            reason = str(problem) or "the store did not answer in time"
            log.warning("what a turn leaves could not be stored: %s", reason)
            context.recorder.unledgered = True
            return False
        self._stored = True
        return True

    async def _left(self) -> None:
        """The client went away in mid-turn: what it saw of abandoned attempts is remembered."""
        if self._exchange.turn.released and not self._stored:
            await self._store(left=True)

    async def _fail(self, client: Client, failure: Unanswered | Fault) -> None:
        """No further attempt can be had: say so in the stream's own format, and end."""
        message, code = str(failure), failure.code
        self._end_as(code)
        if self._exchange.turn.released:
            await self._store(left=True)
        await client.write(self._exchange.continuation.error(message, code))
        self._live = False
        self._record(code)
        await client.end()

    async def _stop(self, client: Client) -> None:
        """The proxy stops, or the turn must: the client is told, as far as it can be."""
        fault = self._fault or Stopping("the proxy is shutting down; try again", retry_after=1)
        if self._live:
            await self._fail(client, fault)
        elif client.started:
            raise BrokenAnswer
        else:
            self._record(fault.code)
            await client.fault(fault)

    def _read_from(self, response: UpstreamResponse) -> None:
        self._response = response
        self._exchange.at_interrupt = response.abort

    async def _close_upstream(self) -> None:
        if self._response is not None:
            await self._response.aclose()

    def _look_at(self, step: Step) -> None:
        self._context.recorder.see(step.seen)
        if step.fault:
            log.error("a fault of ours while matching: %s", step.fault)
            self._rules_off("a fault of ours while matching")

    def _rules_off(self, why: str) -> None:
        """The turn goes on without rules, unless it must not."""
        self._context.recorder.remark(f"rules off: {why}")
        if self._context.fail_mode == "closed":
            raise RulesDown(f"{why}, and failMode is closed")

    def _end_as(self, outcome: str) -> None:
        recorder = self._context.recorder
        recorder.outcome = recorder.outcome or outcome

    def _record(self, outcome: str) -> None:
        """Write the turn's row; before the client knows that it is over, and may ask for it."""
        self._end_as(outcome)
        exchange, recorder = self._exchange, self._context.recorder
        recorder.close(exchange.turn.attempts, exchange.withheld_characters, exchange.usage)


def _success(response: UpstreamResponse) -> bool:
    return 200 <= response.status < 300  # noqa: PLR2004 - the successes


def _stream_head(response: UpstreamResponse) -> Sequence[Field]:
    head = without_framing(to_client(response.headers))
    missing = [(name, value) for name, value in _UNBUFFERED if first(head, name) is None]
    return [*head, *missing]


def _passed_head(response: UpstreamResponse) -> Sequence[Field]:
    head = to_client(response.headers)
    coded = first(head, b"content-encoding") is not None and response.decodable
    return without_framing(head) if coded else head
