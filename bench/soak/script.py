"""What each stream of the soak is: what the upstream does, and what the client must see of it.

Pure, and all of it follows from the kind and the number that the request's model names, so that
upstream, client and judge agree without a word, and no two streams have a text in common.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate
from random import Random

from bench.soak.answer import Answer, Shown
from bench.under_rules import MARK as SECOND

REMINDED = "bench-reminder"
_REMINDING = "remindthem"
_BAD_CALL = "forbidden_call("
_WORDS = ("lorem", "ipsum", "dolor", "sit", "amet", "sed", "tempor", "labore", "magna", "aliqua")
# `safe` keeps the newest event, and one in which a match may have begun.
_MOST_HELD = 3


class Kind(Enum):
    """What a stream is, and what goes wrong with it."""

    PLAIN = auto()
    WHOLE = auto()
    CALL = auto()
    INTERRUPT = auto()
    WHOLE_INTERRUPT = auto()
    REFUSED_CALL = auto()
    REMIND = auto()
    LEAVE = auto()
    LEAVE_INTERRUPTED = auto()
    STATUS_429 = auto()
    STATUS_500 = auto()
    REISSUE_LATE = auto()
    REISSUE_DEAD = auto()
    BROKEN = auto()
    RESET = auto()
    UNENDED = auto()
    ERROR_EVENT = auto()
    SLOW = auto()


# The others come once as often.
_OFTEN = {Kind.PLAIN: 5, Kind.CALL: 3, Kind.INTERRUPT: 6, Kind.REFUSED_CALL: 2, Kind.LEAVE: 5}
_VIOLATING = {
    Kind.INTERRUPT, Kind.WHOLE_INTERRUPT, Kind.LEAVE_INTERRUPTED, Kind.REISSUE_LATE,
    Kind.REISSUE_DEAD,
}  # fmt: skip
_WHOLE = {Kind.WHOLE, Kind.WHOLE_INTERRUPT}
_CALLS = {Kind.CALL, Kind.REFUSED_CALL}
# Whether the rules acted is seen in the next request of the same conversation.
_FOLLOWED = {Kind.INTERRUPT: SECOND, Kind.REMIND: REMINDED}


@dataclass(frozen=True, slots=True)
class Script:
    """One stream. `violation`: text that an interrupting rule matches."""

    kind: Kind
    number: int
    violation: str

    @classmethod
    def of_model(cls, model: str, violation: str) -> Script:
        """Of the name that `model` gave; the part behind it says which request it is."""
        _, kind, number = model.split("-")[:3]
        return cls(Kind[kind], int(number), violation)

    @property
    def model(self) -> str:
        """What the request names."""
        return f"soak-{self.kind.name}-{self.number}"

    @property
    def streamed(self) -> bool:
        """Whether the answer is a stream."""
        return self.kind not in _WHOLE

    @property
    def calls(self) -> bool:
        """Whether the model calls a tool."""
        return self.kind in _CALLS

    @property
    def follow_up(self) -> str | None:
        """What the next request of the conversation must hold, if there is one."""
        return _FOLLOWED.get(self.kind)

    def _random(self, what: str) -> Random:
        return Random(f"{what} {self.number}")

    def texts(self) -> list[str]:
        """The text of each event of the first attempt."""
        rng = self._random("first")
        texts = [f"[{self.number}/{at}] {_some(rng)} " for at in range(rng.randint(6, 40))]
        if self.kind in _VIOLATING:
            texts.insert(self.violates_at(), self.violation)
        if self.kind is Kind.REMIND:
            texts.insert(self.violates_at(), f"{_REMINDING} ")
        return texts

    def violates_at(self) -> int:
        """Before which of the clean events what rules look for stands."""
        return self._random("at").randint(1, 6)

    def second(self) -> list[str]:
        """The text of each event of the second attempt."""
        rng = self._random("second")
        return [f"<{self.number}/{at}> {_some(rng)} " for at in range(rng.randint(2, 10))]

    def arguments(self) -> str:
        """The arguments of the call."""
        rng = self._random("call")
        source = "\n".join(
            f"// {self.number}/{at} {_some(rng)}" for at in range(rng.randint(2, 20))
        )
        if self.kind is Kind.REFUSED_CALL:
            source += f"\n{_BAD_CALL});\n"
        return json.dumps({"path": f"src/{self.number}.ts", "content": source})

    def breaks_at(self) -> int:
        """Behind how many events the upstream fails, or the client leaves."""
        return self._random("break").randint(1, 6)

    def pause(self, at: int) -> float:
        """Seconds before an event."""
        if self.kind is Kind.SLOW and at == self.breaks_at():
            return 3.0
        return self._random(f"pause {at}").uniform(0.05, 0.25)

    def fault(self, answer: Answer, *, unguarded: bool) -> str | None:
        """Say what is wrong with what the client got, or nothing.

        `unguarded`: the audit says that the ledger was not there for this stream, so that rules
        only observed.
        """
        if self.kind in {Kind.STATUS_429, Kind.STATUS_500}:
            return _unless(answer == Answer(status_of(self.kind), refusal(self.number)), "status")
        if answer.status != 200:
            return f"status {answer.status}: {answer.body[:200]!r}"
        shown = answer.shown(streamed=self.streamed)
        if isinstance(shown, str):
            return shown
        fault = self._fault(shown, answer)
        if fault is not None and unguarded and shown.text == "".join(self.texts()):
            return None
        return fault

    def _fault(self, shown: Shown, answer: Answer) -> str | None:
        match self.kind:
            case Kind.BROKEN | Kind.RESET:
                sound = self._is_beginning(shown) and answer.cut and not shown.done
            case Kind.UNENDED:
                sound = shown.text == self._text(self.breaks_at()) and not shown.done
            case Kind.ERROR_EVENT:
                sound = shown.text == self._text(self.breaks_at()) and "error" in shown.errors[:1]
            case Kind.LEAVE | Kind.LEAVE_INTERRUPTED:
                sound = self._text().startswith(shown.text) or self._is_continued(shown.text, "")
            case Kind.REISSUE_DEAD:
                held = shown.text in self._beginnings()
                sound = held and "reissue_failed" in shown.errors and not shown.done
            case Kind.CALL:
                sound = shown.arguments == self.arguments() and self._ends(shown, "tool_calls")
            case Kind.REFUSED_CALL:
                text = "".join(self.second())
                sound = (shown.text, shown.arguments) == (text, "") and self._ends(shown)
            case Kind.INTERRUPT | Kind.REISSUE_LATE:
                second = "".join(self.second())
                sound = self._is_continued(shown.text, second) and self._ends(shown)
            case Kind.WHOLE_INTERRUPT:
                sound = shown.text == "".join(self.second()) and self._ends(shown)
            case Kind.PLAIN | Kind.WHOLE | Kind.REMIND | Kind.SLOW | _:
                sound = shown.text == self._text() and self._ends(shown)
        return _unless(sound, f"{shown}")

    def _text(self, events: int | None = None) -> str:
        return "".join(self.texts()[:events])

    def _is_beginning(self, shown: Shown) -> bool:
        whole = self._text(self.breaks_at())
        # A reset may overtake what was sent before it.
        return shown.text == whole or (self.kind is Kind.RESET and whole.startswith(shown.text))

    def _beginnings(self) -> Sequence[str]:
        """What may have been released in front of the violation."""
        clean = self.texts()[: self.violates_at()]
        return ["", *accumulate(clean)][-_MOST_HELD:]

    def _is_continued(self, text: str, second: str) -> bool:
        if not second:
            firsts = self._beginnings()
            return any(f"{first}\n\n{''.join(self.second())}".startswith(text) for first in firsts)
        seams = [f"{first}\n\n" if first else "" for first in self._beginnings()]
        return text in {f"{seam}{second}" for seam in seams}

    def _ends(self, shown: Shown, reason: str = "stop") -> bool:
        done = shown.done or not self.streamed
        return done and shown.reasons == (reason,) and not shown.errors and len(shown.ids) == 1


def status_of(kind: Kind) -> int:
    """The error of the upstream that goes to the client as it is."""
    return 429 if kind is Kind.STATUS_429 else 500


def refusal(number: int) -> bytes:
    """The body of such an error."""
    return json.dumps({"error": {"message": f"not now, {number}", "type": "soak"}}).encode()


def rules() -> dict[str, str]:
    """Rule files beside those of the bench, by name."""
    reminding = f"condition: '{_REMINDING}'\nscope: text\ninterruptMode: never"
    calls = "condition: 'forbidden_call\\('\nscope: 'tool:write(*.ts)'\ninterruptMode: always"
    return {
        "soak-reminder": f"---\n{reminding}\n---\n{REMINDED}: think of it.\n",
        "soak-call": f"---\n{calls}\n---\n{SECOND}: do not call it.\n",
    }


def drawn(rng: Random, number: int, violation: str) -> Script:
    """One more stream, as the weights have it."""
    kinds = list(Kind)
    weights = [_OFTEN.get(kind, 1) for kind in kinds]
    return Script(rng.choices(kinds, weights)[0], number, violation)


def _some(rng: Random) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randint(1, 5)))


def _unless(sound: bool, fault: str) -> str | None:  # noqa: FBT001 - reads as a sentence
    return None if sound else fault
