"""What an exchange tells the relay to do, and what there is for the audit to record; pure."""

from __future__ import annotations

from dataclasses import dataclass

from rules_engine.decisions import Action, Hit
from rules_engine.structures import StructureJob


@dataclass(frozen=True, slots=True)
class Seen:
    """A hit for the audit: in which attempt, what it led to, and what became of that."""

    hit: Hit
    attempt: int
    action: Action
    outcome: str


@dataclass(slots=True)
class Step:
    """What the relay must do now, in the order of the fields.

    check: run these searches, then take `Exchange.checked` as the next step; nothing is read
    before that.
    overheld: more waits than may; the rules must be given up before anything more is read.
    close_upstream: at once, before anything is awaited. send: to the client now. then `reissue`:
    open the next attempt; or `complete`: store the splice, send `last`, end the answer, in an
    orderly way unless `broken` (then the connection is cut as the upstream's was). `failed`: the
    answer says that it failed; `exhausted`: because no attempt was left. `fault`: a fault of ours
    switched the rules off for this turn.
    """

    check: tuple[StructureJob, ...] = ()
    overheld: bool = False
    close_upstream: bool = False
    send: bytes = b""
    reissue: bool = False
    complete: bool = False
    last: bytes = b""
    broken: bool = False
    failed: bool = False
    exhausted: bool = False
    fault: str = ""
    seen: tuple[Seen, ...] = ()

    @property
    def over(self) -> bool:
        """Whether nothing more of this attempt counts."""
        return self.reissue or self.complete

    @property
    def only_sends(self) -> bool:
        """Whether it says nothing but what goes to the client now."""
        return not (
            self.seen or self.check or self.overheld or self.reissue or self.complete or self.fault
        )

    def then(self, later: Step) -> Step:
        """This step and the one that its searches led to, as one.

        What stood behind the end mark stays behind what is released now.
        """
        later.send = self.send + later.send
        later.last += b"" if later.reissue else self.last
        later.seen = self.seen + later.seen
        later.fault = self.fault or later.fault
        return later


def place_of(problem: Exception) -> str:
    """Name a fault and where it lies; its own words may hold what a model or client wrote."""
    frames = [problem.__traceback__]
    while frames[-1] is not None and frames[-1].tb_next is not None:
        frames.append(frames[-1].tb_next)
    last = frames[-1]
    place = f" in {last.tb_frame.f_code.co_name}, line {last.tb_lineno}" if last else ""
    return f"{type(problem).__name__}{place}"
