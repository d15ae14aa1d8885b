"""What one turn tells the audit: its hits as they happen, itself once at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from proxy.audit import Audit, TurnLabel, hit_record
from proxy.step import Seen
from proxy.store import TurnRecord
from rules_engine.decisions import Action

_STOPPED = frozenset({Action.INTERRUPT, Action.REFUSE})


@dataclass(slots=True)
class TurnRecorder:
    """Rows of one turn. `wall` gives Unix time; `excerpt` is the longest excerpt in characters."""

    audit: Audit
    label: TurnLabel
    workspace: str
    wall: Callable[[], float]
    excerpt: int
    unledgered: bool = False
    outcome: str = ""
    remarks: list[str] = field(default_factory=list)
    _acted: set[Action] = field(default_factory=set)
    _closed: bool = False

    def see(self, seen: Sequence[Seen]) -> None:
        """Record hits."""
        if not seen:
            return
        self._acted |= {each.action for each in seen}
        now = self.wall()
        self.audit.record(
            [
                hit_record(
                    each.hit,
                    self.label,
                    time=now,
                    attempt=each.attempt,
                    action=each.action,
                    outcome=each.outcome,
                    limit=self.excerpt,
                )
                for each in seen
            ]
        )

    def remark(self, text: str) -> None:
        """Add to how the turn ended: something that did not go as it should."""
        if text not in self.remarks:
            self.remarks.append(text)

    def close(
        self, attempts: int, withheld: int, usage: Sequence[Mapping[str, int] | None]
    ) -> None:
        """Record the turn, once; `outcome` says how it ended."""
        if self._closed:
            return
        self._closed = True
        self.audit.record(
            turn=TurnRecord(
                time=self.wall(),
                conversation=self.label.conversation,
                turn=self.label.turn,
                agent=self.label.agent,
                model=self.label.model,
                workspace=self.workspace,
                attempts=attempts,
                withheld_characters=withheld,
                usage=tuple(usage),
                outcome="; ".join((self.outcome, *self.remarks)),
                cured=self._cured(),
                unledgered=self.unledgered,
            )
        )

    def _cured(self) -> bool | None:
        if not self._acted & _STOPPED:
            return None
        return Action.EXHAUSTED not in self._acted and self.outcome == "completed"
