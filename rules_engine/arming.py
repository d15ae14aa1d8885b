"""Which rules a turn watches, and which of their hits may stop it: modes, policy and surfaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rules_engine.policy import ToolRefusal, allows, covers
from rules_engine.ruleset import LiveRule, RuleSet
from rules_engine.scope import Surface


@dataclass(frozen=True, slots=True)
class Arming:
    """The rules that are watched on prose and on tools, in order of precedence.

    `allowed`: names of those that the repeat policy lets act in this turn. Others are watched on
    tools alone, where a finished call of theirs is refused.
    """

    prose: tuple[LiveRule, ...] = ()
    tools: tuple[LiveRule, ...] = ()
    allowed: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        ruleset: RuleSet,
        delivered: Mapping[str, int],
        refusal: ToolRefusal,
        *,
        observe: bool,
    ) -> Arming:
        """Arm a turn. `delivered`: as `policy.allows` takes it; `observe`: nothing is stopped."""
        key = (cls, refusal, observe)
        known = None if delivered else ruleset.memo.get(key)
        if isinstance(known, cls):
            return known
        allowed = frozenset(live.rule.name for live in ruleset.live if allows(live, delivered))
        spent_too = refusal is ToolRefusal.ALWAYS and not observe
        made = cls(
            tuple(live for live in ruleset.live if live.rule.name in allowed and live.prose),
            tuple(
                live
                for live in ruleset.live
                if live.tools
                and (live.rule.name in allowed or (spent_too and covers(live.mode, Surface.TOOL)))
            ),
            allowed,
        )
        if not delivered:
            ruleset.memo[key] = made
        return made

    @property
    def idle(self) -> bool:
        """Whether nothing is watched."""
        return not (self.prose or self.tools)

    @property
    def interrupting(self) -> tuple[LiveRule, ...]:
        """Those whose hits on prose interrupt."""
        return tuple(
            live for live in self.prose if any(covers(live.mode, each) for each in live.prose)
        )

    @property
    def refuses(self) -> bool:
        """Whether any hit on a call would keep it back."""
        return any(covers(live.mode, Surface.TOOL) for live in self.tools)
