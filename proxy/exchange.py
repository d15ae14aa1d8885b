"""One client turn without I/O: bytes of upstream attempts in, bytes for the client and steps out.

It joins the pure parts: events are cut and decoded, the turn machine decides, the continuation
writes the client's stream, and what the model was told gathers into one splice. The relay opens
and closes connections, sends, stores, and records as each `Step` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from proxy.backlog import Backlog, CutRun, Run
from proxy.batch import apart, deliveries, outcomes, refusal_results, reminded, reminder_of, untold
from proxy.conversation import Message
from proxy.intake import Events, Intake
from proxy.outlet import Outlet, lets_by
from proxy.pending import Pending
from proxy.quirks import Profile
from proxy.splice import Placement, Splice
from proxy.sse import SseEvent
from proxy.step import Seen, Step, place_of
from proxy.wire import Decoded, WireApi, WireRequest
from rules_engine import wording
from rules_engine.decisions import (
    Action,
    Complete,
    Hit,
    Interrupt,
    Observe,
    Quarantined,
    Refuse,
    Release,
    Withhold,
)
from rules_engine.structures import CheckStructure, StructureResult
from rules_engine.turn import Answer, Turn

_GAP = "\n\n"  # between what the model said and what we say behind it


class Exchange:
    """One turn of one streaming request. `limit`: the largest event in bytes.

    `held_limit`: bytes of events that may wait; beyond it a step says so, and nothing is read on
    until the relay has taken that for the end of the rules (`give_up`).
    """

    def __init__(
        self,
        wire: WireApi,
        request: WireRequest,
        turn: Turn,
        profile: Profile,
        pending: Pending,
        *,
        limit: int,
        held_limit: int,
        reminders: Placement = Placement.INTO_TOOL,
    ) -> None:
        self.turn = turn
        self.pending = pending
        self.withheld_characters = 0
        self._usage: list[Mapping[str, int] | None] = []  # of the attempts before
        self._wire = wire
        self._request = request
        self._profile = profile
        self._limit = limit
        self._held_limit = held_limit
        self._reminders = reminders
        self.continuation = wire.continuation(request)
        self._watching = not turn.plan().idle
        self._unread: Events | None = None  # those behind one that something must be done about
        self.unplaceable = False  # an upstream took no form of what we had to say
        self.at_interrupt: Callable[[], None] = lambda: None  # cuts the upstream off
        self._begin()

    # ---- what the relay calls

    def read(self, data: bytes, now: float) -> Step:
        """More bytes of the current attempt. Raises `sse.EventTooLarge`."""
        step = Step()
        events = self._intake.events(data)
        try:
            self._take(events, now, step)
        except Exception as problem:  # noqa: BLE001 - a fault of ours must not harm the stream
            self._fall_open(events, problem, step)
        return self._with_rest(step)

    def pass_rest(self, data: bytes) -> Step:
        """Bytes that no rule looks at: behind the end mark, or when the rules are off."""
        step = self.give_up()
        step.send += data if self._first else b""
        return step

    def document(self, body: bytes, now: float) -> Step:
        """A whole JSON answer: one long event."""
        step = Step()
        self._outlet.document = self._ended = True
        try:
            decoded, events = self._intake.document(body)
            self._backlog.add(SseEvent(body, None), decoded)
            self._execute(self.turn.feed(0, events, now), step)
            self._finish(step, broken=False)
        except Exception as problem:  # noqa: BLE001 - a fault of ours must not harm the answer
            step = Step(complete=True, last=body, fault=place_of(problem))
        return step

    def end(self, now: float, *, broken: bool) -> Step:
        """The attempt's body ended, in an orderly way or not. Raises `sse.EventTooLarge`."""
        return self._over(self._intake.tail(), now, broken=broken)

    def checked(self, results: Sequence[StructureResult], now: float) -> Step:
        """The searches that a step asked for were run: go on from there; may ask for more."""
        step = Step()
        held = b"".join(each.event.raw for each in self._backlog) if self._outlet.document else b""
        left, self._unread = self._unread, None
        try:
            if self._watching:
                self._execute(self.turn.checked(results, now), step)
            if self._ended:
                self._finish(step, broken=self._ending)
            elif left is not None and not self._pauses(left, step):
                self._take(left, now, step)
        except Exception as problem:  # noqa: BLE001 - a fault of ours must not harm the stream
            self._unread = None
            self._fall_open(left, problem, step)
            if self._outlet.document:
                return Step(complete=True, last=held, fault=step.fault)
        return self._with_rest(self._closing(now, step))

    def tick(self, now: float) -> Step:
        """Time has passed without bytes."""
        step = Step()
        self._guard(lambda: self._execute(self.turn.tick(now), step), step)
        return step

    def settle(self, now: float) -> Step:
        """The upstream said why it finished and fell silent: take that for the end."""
        return self._over(None, now, broken=False)

    def give_up(self) -> Step:
        """Rules off for this turn: everything held goes out, the rest passes as it comes."""
        step = Step()
        if self._watching:
            self._guard(lambda: self._execute(self.turn.give_up(), step), step)
            self._watching = False
        left, self._unread = self._unread, None
        self._pass_left(left, step)
        step.last += self._intake.rest() if step.complete and self.passes_on else b""
        return step

    def reissued(self, now: float) -> None:
        """The next attempt's body is about to be read."""
        self.turn.reissued(now)
        self._usage.append(self._intake.usage)
        self._begin()

    @property
    def usage(self) -> Sequence[Mapping[str, int] | None]:
        """What each attempt told last of its usage."""
        return [*self._usage, self._intake.usage]

    @property
    def finish_seen(self) -> bool:
        """Whether the current attempt has said why it finished, and its end is still open."""
        return self._intake.finish_seen and not self._ended

    @property
    def passes_on(self) -> bool:
        """Whether bytes behind the end mark still belong to the client."""
        return self._first and self._intake.done and not self._withheld

    @property
    def holding(self) -> bool:
        """Whether the proxy itself keeps something back."""
        return bool(self._backlog)

    def client_message(self) -> Message:
        """The assistant message as the client has it, or will once the last bytes are out."""
        message, whole = self._intake.message(), self._whole()
        text = message.text if whole else message.text[: self._outlet.text]
        reasoning = message.reasoning if whole else message.reasoning[: self._outlet.thinking]
        return Message(
            "assistant",
            self._front() + text + self._said,
            # Behind released text an attempt's reasoning is not shown.
            self.turn.released_thinking + ("" if self.turn.released else reasoning),
            message.calls if whole else (),
        )

    def splice(self, *, left: bool = False) -> Splice | None:
        """What the turn leaves behind, or None. `left`: the client went away before its end."""
        injected = self.pending.splice.injects
        if self.unplaceable or not (injected and self._request.anchored):
            return None
        pending = self.pending.abandoned(self._front(), self.turn.released_thinking)
        message = self._intake.message()
        if self._whole() and self.turn.released and not self._profile.forbid_reasoning:
            pending = pending.restored(b"" if message.extra == b"{}" else message.extra)
        return pending.finish(self.client_message().text, head=left)

    def _front(self) -> str:
        """Text of abandoned attempts at the front of the client's message, with its seam."""
        released = self.turn.released
        spoken = self._intake.message().text if self._whole() else self._outlet.text or self._said
        return released + wording.seam(released) if released and spoken else released

    def _whole(self) -> bool:
        """Whether the client got the newest attempt's message as it is."""
        return self._accepted and not self._withheld

    # ---- one attempt

    def _begin(self) -> None:
        self._intake = Intake(self._wire.decoder(self._profile), self._limit)
        self._outlet = Outlet(self.continuation, first=self.turn.attempts == 1)
        self._ended = False  # the turn machine knows that the output is over
        self._accepted = False
        self._unfinished: frozenset[tuple[int, int]] = frozenset()
        self._withheld = False  # its calls stay here for good
        self._ending = False  # how its connection ended, while structures are searched
        self._over_broken: bool | None = None  # how its body ended, if it has
        self._unread = None
        self._said = ""  # what we said ourselves in their place

    @property
    def _backlog(self) -> Backlog:
        return self._outlet.backlog

    @property
    def _first(self) -> bool:
        return self._outlet.first

    def _guard(self, work: Callable[[], None], step: Step) -> None:
        """Do `work`; a fault of ours in it switches the rules off."""
        try:
            work()
        except Exception as problem:  # noqa: BLE001 - a fault of ours must not harm the stream
            self._fall_open(None, problem, step)

    def _over(self, left: Events | None, now: float, *, broken: bool) -> Step:
        step = Step()
        self._over_broken = broken
        try:
            if left is not None:
                self._take(left, now, step)
        except Exception as problem:  # noqa: BLE001 - a fault of ours must not harm the stream
            self._fall_open(left, problem, step)
        return self._closing(now, step)

    def _closing(self, now: float, step: Step) -> Step:
        """Bring the attempt to its end, where its body is over and nothing is in the way."""
        broken = self._over_broken
        if broken is None or step.check or step.over or self._ended:
            return step
        cut_short = broken or not (self._intake.finish_seen or self._intake.done)
        try:
            self._close(now, step, broken=cut_short, transport=broken)
        except Exception as problem:  # noqa: BLE001 - a fault of ours must not harm the stream
            self._fall_open(None, problem, step)
            if not step.complete:
                self._close(now, step, broken=cut_short, transport=broken)
        return step

    def _with_rest(self, step: Step) -> Step:
        """With it what stands behind the end mark, if it is the client's."""
        if (step.complete or step.check) and self.passes_on:
            step.last += self._intake.rest()
        return step

    def _take(self, events: Events, now: float, step: Step) -> None:
        """Take in what one read completed; pieces of one text in a row are fed as one."""
        backlog = self._outlet.backlog
        while events.at < events.count:
            if self._ended or not self._watching:
                self._unwatched(events, step)
                continue
            # Each event is looked at, by itself, until one has said who answers.
            room = 0 if self.continuation.curious else self._held_limit - backlog.size
            run = events.run(room)
            if run is not None:
                answers = self._feed_text(run, now)
                if answers is None:
                    step.send += run.raw
                else:
                    self._execute(answers, step)
            else:
                self._feed(events, now, step)
            if self._pauses(events, step):
                return

    def _pauses(self, left: Events, step: Step) -> bool:
        """Whether something must be done before more is taken in; keeps what is `left` for then."""
        waits = bool(step.check) and not self._ended
        if not waits and self._backlog.size > self._held_limit and not step.reissue:
            waits = step.overheld = True
        if waits:
            self._unread = left
        return waits or step.reissue

    def _feed_text(self, run: Run | CutRun, now: float) -> Sequence[Answer] | None:
        """Feed pieces of one text; None where they go out as they came, else they wait."""
        outlet = self._outlet
        first = outlet.backlog.count
        try:
            answers = self.turn.feed_text(first, run.choice, run.pieces, now)
        except Exception:
            outlet.backlog.extend(run)
            raise
        if lets_by(answers, first + len(run.pieces) - 1) and outlet.passes(run):
            return None
        outlet.backlog.extend(run)
        return answers

    def _feed(self, taken: Events, now: float, step: Step) -> None:
        """Feed the next event."""
        backlog = self._outlet.backlog
        event, decoded = taken.look()
        backlog.add(event, decoded)
        taken.event()
        events = decoded.events
        self._intake.note(decoded)
        if decoded.done:
            self._ended = True
            events += self._intake.close(broken=False)
        self._execute(self.turn.feed(backlog.count - 1, events, now), step)
        if decoded.done:
            self._finish(step, broken=False)

    def _pass_left(self, left: Events | None, step: Step) -> None:
        while left is not None and not left.over:
            self._unwatched(left, step)

    def _unwatched(self, events: Events, step: Step) -> None:
        """Take bytes behind the end mark, or of a turn that no rule watches (any more)."""
        if self._outlet.first and not self._ended:
            step.send += events.untold()
            if events.at == events.count:
                return
        if self._ended:
            event = events.event()
            step.last += event.raw if self.passes_on else b""
            return
        try:
            decoded: Decoded | None = events.look()[1]
        except Exception:  # noqa: BLE001 - what cannot be read can still be passed on
            decoded = None
        event = events.event()
        if self._first:
            step.send += event.raw
        if decoded is None:
            # Behind a finish reason that was read, our own end mark follows.
            marks_end = self._intake.finish_seen and event.mentions("[DONE]")
            step.send += b"" if self._first or marks_end else event.raw
            return
        self._intake.note(decoded)
        if not self._first:
            step.send += self._outlet.passed(event, decoded)
        if self._intake.done:
            self._end_unwatched(step)

    def _end_unwatched(self, step: Step) -> None:
        self._ended = self._accepted = step.complete = True
        step.last += b"" if self._first else self.continuation.finish()

    def _close(self, now: float, step: Step, *, broken: bool, transport: bool) -> None:
        self._ended = True
        if not self._watching:
            step.complete = self._accepted = True
            step.broken = transport
            step.last = b"" if self._first or broken else self.continuation.finish()
            return
        events = self._intake.close(broken=broken)
        self._execute(self.turn.feed(self._backlog.count, events, now), step)
        self._finish(step, broken=transport)

    def _finish(self, step: Step, *, broken: bool) -> None:
        """The attempt is over and was not abandoned: what was released now goes last."""
        if step.check:
            self._ending = broken
        if step.check or step.reissue:
            return
        step.complete, step.broken, step.failed = True, broken, step.failed or self._intake.failed
        plain = self._first or self._outlet.document
        if not (plain or self._withheld or broken or self._intake.failed):
            step.last += self.continuation.finish()

    # ---- decisions

    def _execute(self, decisions: Sequence[Answer], step: Step) -> None:
        for decision in decisions:
            match decision:
                case Release():
                    self._release(decision, step)
                case Interrupt():
                    self._interrupt(decision, step)
                case Refuse():
                    self._refuse(decision, step)
                case Withhold():
                    self._withhold(decision, step)
                case Complete():
                    self._complete(decision, step)
                case Observe(hits):
                    self._see(step, hits, Action.OBSERVED, "observed")
                case Quarantined(rule, surface):
                    hit = Hit(rule, surface, 0, 0, 0, 0, "")
                    self._see(step, (hit,), Action.QUARANTINED, "over its budget, unchecked")
                case CheckStructure(jobs):
                    step.check = jobs

    def _see(self, step: Step, hits: Sequence[Hit], action: Action, outcome: str) -> None:
        step.seen += tuple(Seen(hit, self.turn.attempts, action, outcome) for hit in hits)

    def _release(self, release: Release, step: Step) -> None:
        self._unfinished = release.without_calls
        out: list[bytes] = []
        try:
            out.extend(self._outlet.release(release))
        finally:  # a fault at one event loses none before it
            if self._ended:
                step.last += b"".join(out)
            else:
                step.send += b"".join(out)

    def _abandon(self, withheld: int, seam: str, step: Step, *, at: int | None = None) -> None:
        self._drop_held(withheld, at)
        self._outlet.text = self._outlet.thinking = 0  # the turn has what the client saw
        self.continuation.reissued(seam)
        step.close_upstream = step.reissue = True
        step.send += step.last
        step.last = b""

    def _drop_held(self, withheld: int, at: int | None = None) -> None:
        self._outlet.drop(at)
        self._ended = True
        self.withheld_characters += withheld

    def _interrupt(self, interrupt: Interrupt, step: Step) -> None:
        self.at_interrupt()  # before all that follows from it is worked out
        note = wording.interrupt(interrupt.hits, anew=self.turn.plan().whole)
        partial = self._wire.partial(interrupt.partial) if interrupt.partial else b""
        self.pending = self.pending.interrupted(note, deliveries(interrupt.hits), partial=partial)
        self._see(step, interrupt.hits, Action.INTERRUPT, "reissued")
        self._abandon(interrupt.withheld, interrupt.seam, step, at=interrupt.at)

    def _refuse(self, refuse: Refuse, step: Step) -> None:
        message = self._intake.message()
        refused, others = apart(refuse)
        results = refusal_results(refuse, len(message.calls))
        rendered = self._wire.refused(message, results, self._profile)
        self.pending = self.pending.refused(rendered, deliveries(others))
        self._see(step, refused, Action.REFUSE, "reissued")
        for hit in others:
            self._see(step, (hit,), reminder_of(hit), "told with the refusal")
        self._abandon(refuse.withheld, refuse.seam, step)

    def _withhold(self, withhold: Withhold, step: Step) -> None:
        said = wording.withheld(withhold.hits)
        self._withheld = True
        self._drop_held(withhold.withheld)
        self._see(step, withhold.hits, Action.EXHAUSTED, "withheld")
        step.failed = step.exhausted = withhold.error
        if withhold.error:
            step.last += self._error(said)
        elif self._outlet.document:
            step.last, self._said = self._wire.document(said, self._request), said
        else:
            step.last += self.continuation.withheld(said)
            self._said = _GAP + said if self._outlet.text else said

    def _error(self, message: str) -> bytes:
        if self._outlet.document:
            return self._wire.error_body(message, "ttsr_error", "rule_exhausted")
        return self.continuation.error(message, "rule_exhausted")

    def _fall_open(self, left: Events | None, problem: Exception, step: Step) -> None:
        """Rules are off: what is held and what is left of this read goes out as it came."""
        step.fault = place_of(problem)
        step.send += step.last
        step.last, step.complete = b"", False
        self._watching = self._ended = False
        step.send += self._outlet.emptied()
        if self._intake.done:
            self._end_unwatched(step)
        self._pass_left(left, step)

    def _complete(self, complete: Complete, step: Step) -> None:
        self._accepted = not complete.broken
        hits = complete.reminders
        if complete.broken:
            step.last += self.continuation.broken(self._unfinished)
            for hit in hits:
                self._see(step, (hit,), reminder_of(hit), "the answer broke off")
            return
        if self._request.anchored:
            self.pending = reminded(self.pending, hits, self._reminders)
        rows = outcomes(hits) if self._request.anchored else untold(hits)
        for hit, action, outcome in rows:
            self._see(step, (hit,), action, outcome)
