"""One client turn without I/O: bytes of upstream attempts in, bytes for the client and steps out.

It joins the pure parts: events are cut and decoded, the turn machine decides, the continuation
writes the client's stream, and what the model was told gathers into one splice. The relay opens
and closes connections, sends, stores, and records as each `Step` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from proxy.backlog import Backlog, CutRun, Run
from proxy.execution import Execution
from proxy.intake import CutEvents, Events, tells
from proxy.outlet import lets_by
from proxy.pending import Pending
from proxy.quirks import Profile
from proxy.splice import Placement
from proxy.sse import SseEvent
from proxy.step import Step, place_of
from proxy.wire import Decoded, Texts, WireApi, WireRequest
from rules_engine.decisions import Release
from rules_engine.structures import StructureResult
from rules_engine.turn import Answer, Turn


class Exchange(Execution):
    """One turn of one streaming request. `limit`: the largest event in bytes.

    `held_limit`: bytes of events that may wait; beyond it a step says so, and nothing is read on
    until the relay has taken that for the end of the rules (`give_up`).
    """

    _unread: Events | None  # those behind one that something must be done about

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
        super().__init__(wire, request, turn, profile, pending, limit=limit, reminders=reminders)
        self._held_limit = held_limit
        self._watching = not turn.plan().idle

    # ---- what the relay calls

    def read(self, data: bytes, now: float) -> Step | bytes:
        """More bytes of the current attempt; gives bytes where to send them is all that is to do.

        Raises `sse.EventTooLarge`.
        """
        intake = self._intake
        parts = intake.parts(data)
        if not parts or not self._flows:
            return self._step(intake.events(data, parts), now)
        raw = b"\n\n".join([*parts, b""])
        if not self._watching:
            return self._step(intake.cut(parts), now) if tells(raw) else raw
        try:
            texts = intake.texts(parts) if len(raw) <= self._held_limit else None
        except Exception:  # noqa: BLE001 - of ours; it comes again where the rules are switched off
            texts = None
        if texts is None:
            return self._step(intake.cut(parts), now)
        outlet = self._outlet
        try:
            answers = self.turn.pass_text(outlet.backlog.count, *texts, now)
        except Exception as problem:  # noqa: BLE001 - a fault of ours must not harm the stream
            return self._behind_text(intake.cut(parts), texts, problem, now)
        if answers is not None or len(texts[1]) < len(parts):
            return self._behind_text(intake.cut(parts), texts, answers, now)
        outlet.went(*texts)
        return raw

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

    # ---- one attempt

    def _begin(self) -> None:
        super()._begin()
        self._flows = False  # what was read last went out as it came: the next likely does, too
        self._ending = False  # how its connection ended, while structures are searched
        self._over_broken: bool | None = None  # how its body ended, if it has
        self._unread = None

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

    def _step(self, events: Events, now: float) -> Step:
        """Take what one read completed, and say what is to be done."""
        step = Step()
        try:
            self._take(events, now, step)
        except Exception as problem:  # noqa: BLE001 - a fault of ours must not harm the stream
            self._fall_open(events, problem, step)
        return self._with_rest(step)

    def _with_rest(self, step: Step) -> Step:
        """With it what stands behind the end mark, if it is the client's."""
        if (step.complete or step.check) and self.passes_on:
            step.last += self._intake.rest()
        return step

    def _take(self, events: Events, now: float, step: Step) -> None:
        """Take in what one read completed; pieces of one text in a row are fed as one."""
        backlog = self._outlet.backlog
        while events.at < events.count:
            self._flows = False
            if self._ended or not self._watching:
                self._unwatched(events, step)
                continue
            # Each event is looked at, by itself, until one has said who answers.
            room = 0 if self.continuation.curious else self._held_limit - backlog.size
            run = events.run(room)
            if run is not None:
                self._feed_text(run, now, step)
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

    def _feed_text(self, run: Run | CutRun, now: float, step: Step) -> None:
        """Feed pieces of one text."""
        try:
            answers = self.turn.pass_text(self._backlog.count, run.choice, run.pieces, now)
        except Exception:
            self._backlog.extend(run)
            raise
        self._decided(run, answers, step)

    def _decided(self, run: Run | CutRun, answers: Sequence[Answer] | None, step: Step) -> None:
        """Let text that was fed out as it came, where that is all, else do what is decided."""
        outlet = self._outlet
        last = outlet.backlog.count + len(run.pieces) - 1
        answers = (Release(last),) if answers is None else answers
        if lets_by(answers, last) and outlet.passes(run):
            step.send += run.raw
            self._flows = not self._intake.finish_seen
            return
        outlet.backlog.extend(run)
        self._execute(answers, step)

    def _behind_text(
        self, events: CutEvents, texts: Texts, fed: Sequence[Answer] | Exception | None, now: float
    ) -> Step:
        """Go on behind text that was read and fed, and does not just pass."""
        self._flows, step, run = False, Step(), events.took(texts)
        if isinstance(fed, Exception):
            self._backlog.extend(run)
            self._fall_open(events, fed, step)
            return self._with_rest(step)
        try:
            self._decided(run, fed, step)
            if not self._pauses(events, step):
                self._take(events, now, step)
        except Exception as problem:  # noqa: BLE001 - a fault of ours must not harm the stream
            self._fall_open(events, problem, step)
        return self._with_rest(step)

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
            if events.over:
                self._flows = not self._intake.finish_seen
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
