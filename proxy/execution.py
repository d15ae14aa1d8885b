"""What a turn decides of an attempt, carried out: on its events, and on what the model is told.

It fills in steps. What is read, and fed to the turn machine, is for the exchange to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from proxy.batch import apart, deliveries, outcomes, refusal_results, reminded, reminder_of, untold
from proxy.conversation import Message
from proxy.intake import Intake
from proxy.outlet import Outlet
from proxy.pending import Pending
from proxy.quirks import Profile
from proxy.splice import Placement, Splice
from proxy.step import Seen, Step
from proxy.wire import WireApi, WireRequest
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
from rules_engine.structures import CheckStructure
from rules_engine.turn import Answer, Turn

_GAP = "\n\n"  # between what the model said and what we say behind it


class Execution:
    """Carries out the decisions of one turn. `limit`: the largest event in bytes.

    `pending`: what the turn has told the model so far. `unplaceable`: an upstream took no form
    of that. `at_interrupt` cuts the upstream off.
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
        reminders: Placement,
    ) -> None:
        self.turn = turn
        self.pending = pending
        self.withheld_characters = 0
        self.unplaceable = False
        self.at_interrupt: Callable[[], None] = lambda: None
        self.continuation = wire.continuation(request)
        self._usage: list[Mapping[str, int] | None] = []  # of the attempts before
        self._wire = wire
        self._request = request
        self._profile = profile
        self._limit = limit
        self._reminders = reminders
        self._begin()

    def _begin(self) -> None:
        """Begin an attempt."""
        self._intake = Intake(self._wire.decoder(self._profile), self._limit)
        self._outlet = Outlet(self.continuation, first=self.turn.attempts == 1)
        self._ended = False  # the turn machine knows that the output is over
        self._accepted = False
        self._unfinished: frozenset[tuple[int, int]] = frozenset()
        self._withheld = False  # its calls stay here for good
        self._said = ""  # what we said ourselves in their place

    @property
    def usage(self) -> Sequence[Mapping[str, int] | None]:
        """What each attempt told last of its usage."""
        return [*self._usage, self._intake.usage]

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

    # ---- decisions

    def _execute(self, decisions: Sequence[Answer], step: Step) -> None:
        self._cut_off(decisions)
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

    def _cut_off(self, decisions: Sequence[Answer]) -> None:
        """Cut the upstream off where the attempt is interrupted, before all that follows."""
        if decisions and isinstance(decisions[-1], Interrupt):
            self.at_interrupt()

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
