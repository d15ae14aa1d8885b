"""Which rules a turn watches, and which of their hits may stop it: modes, policy and surfaces."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from rules_engine.policy import ToolRefusal, allows, covers
from rules_engine.ruleset import LiveRule, RuleSet
from rules_engine.scope import Surface

_MOST_KEPT = 32


@dataclass(frozen=True, slots=True)
class Arming:
    """The rules that are watched on prose and on tools, in order of precedence.

    `allowed`: names of those that the repeat policy lets act in this turn. Others are watched on
    tools alone, where a finished call of theirs is refused. `interrupting`: names of those whose
    hits on prose interrupt. `refuses`: whether any hit on a call would keep it back. `cutting`:
    names of those whose structures may stop a call that still streams.
    `memo`: what follows from it alone, made once for all turns that are armed alike.
    """

    prose: tuple[LiveRule, ...] = ()
    tools: tuple[LiveRule, ...] = ()
    allowed: frozenset[str] = frozenset()
    interrupting: frozenset[str] = frozenset()
    refuses: bool = False
    cutting: frozenset[str] = frozenset()
    memo: dict[Hashable, object] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

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
        # Mostly none was, and then they need not be gone through.
        told = [live for live in ruleset.live if live.rule.name in delivered] if delivered else ()
        spent = frozenset(live.rule.name for live in told if not allows(live, delivered))
        key = (cls, refusal, observe, spent)
        known = ruleset.memo.get(key)
        if isinstance(known, cls):
            return known
        if len(ruleset.memo) >= _MOST_KEPT:
            ruleset.memo.clear()
        allowed = frozenset(live.rule.name for live in ruleset.live) - spent
        made = cls._new(ruleset.live, allowed, refusal, stops=not observe)
        ruleset.memo[key] = made
        return made

    @property
    def idle(self) -> bool:
        """Whether nothing is watched."""
        return not (self.prose or self.tools)

    @classmethod
    def _new(
        cls,
        live: Sequence[LiveRule],
        allowed: frozenset[str],
        refusal: ToolRefusal,
        *,
        stops: bool,
    ) -> Arming:
        spent_too = refusal is ToolRefusal.ALWAYS and stops
        prose = tuple(each for each in live if each.rule.name in allowed and each.prose)
        tools = tuple(
            each
            for each in live
            if each.tools and (each.rule.name in allowed or (spent_too and _refuses(each)))
        )
        if not stops:
            return cls(prose, tools, allowed)
        interrupting = frozenset(
            each.rule.name for each in prose if any(covers(each.mode, on) for on in each.prose)
        )
        cutting = allowed & {each.rule.name for each in tools if each.structures and _refuses(each)}
        return cls(prose, tools, allowed, interrupting, any(map(_refuses, tools)), cutting)


def _refuses(live: LiveRule) -> bool:
    return covers(live.mode, Surface.TOOL)
