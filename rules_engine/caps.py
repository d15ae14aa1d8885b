"""What bounds a turn: interrupts a rule, attempts, and time between two released events."""

from __future__ import annotations

from collections.abc import Iterable

from rules_engine.policy import TurnOptions
from rules_engine.ruleset import LiveRule


class Caps:
    """What of its caps a turn has used up. `now`: seconds, on the clock that later ones are on.

    `last_release`: when an event went out last, which begins the budget anew. `pressing`: whether
    more depends on the time than what is `spent`, so that `pass_time` must be told of it.
    """

    def __init__(self, options: TurnOptions, now: float) -> None:
        self.attempts = 1
        self._options = options
        self._acted: dict[str, int] = {}  # how many attempts each rule has stopped
        self.now = self.last_release = now
        self._waiting = True  # the budget runs between released events, not before the first
        self.pressing = True
        self._late = False  # the budget was used up by an attempt of ours: there is no other

    def may_act(self, live: LiveRule) -> bool:
        """Whether a hit of the rule may still stop an attempt."""
        return bool(self.left(frozenset((live.rule.name,))))

    def left(self, names: frozenset[str]) -> frozenset[str]:
        """Give those of some rules whose hits may still stop an attempt; no copy of all."""
        most = self._options.max_interrupts_per_rule
        if most == 0 or self.attempts >= self._options.max_attempts or self.spent():
            return frozenset()
        if not self._acted:
            return names
        full = {name for name, times in self._acted.items() if times >= most}
        return names - full if full else names

    def act(self, names: Iterable[str]) -> None:
        """Count an attempt that these rules have stopped."""
        for name in set(names):
            self._acted[name] = self._acted.get(name, 0) + 1

    def begin_attempt(self, now: float) -> None:
        """Count one more attempt."""
        self.now = now
        self.attempts += 1
        self.pressing = True

    def pass_time(self, now: float) -> bool:
        """Take the time; answers whether the budget was used up by an attempt of ours."""
        if self._waiting:
            self._waiting, self.last_release = False, now
        self.now = now
        self.pressing = self.attempts > 1
        self._late = self._late or (self.pressing and self.spent())
        return self._late

    def released(self) -> None:
        """Begin the budget anew: an event goes out."""
        self.last_release = self.now

    def spent(self) -> bool:
        """Whether the time budget is used up, so that nothing may stop an attempt."""
        return self._late or self.now - self.last_release > self._options.turn_budget
