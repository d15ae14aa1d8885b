"""Which rule may act where: interrupt modes, the repeat policy from ages; a turn's settings.

Nothing is counted across requests: whether a rule was delivered, and how long ago, is read off
the conversation by whoever builds the model view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rules_engine.rule import InterruptMode, RepeatMode
from rules_engine.ruleset import LiveRule
from rules_engine.scope import Surface


class ReleaseMode(StrEnum):
    """When prose reaches the client while an interrupting rule is armed."""

    SAFE = "safe"
    CUT = "cut"
    WHOLE = "whole"


class OnExhausted(StrEnum):
    """What becomes of a violating call once no more attempts are allowed."""

    REFUSE = "refuse"
    DELIVER = "deliver"
    ERROR = "error"


class ToolRefusal(StrEnum):
    """Whether a call that violates a spent rule is still refused (`once` is OMP's behaviour)."""

    ALWAYS = "always"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """The settings that a turn obeys. `hold_limit` in characters, `turn_budget` in seconds."""

    release: ReleaseMode = ReleaseMode.SAFE
    hold_limit: int = 4096
    max_interrupts_per_rule: int = 3
    max_attempts: int = 6
    turn_budget: float = 120.0
    on_exhausted: OnExhausted = OnExhausted.REFUSE
    tool_refusal: ToolRefusal = ToolRefusal.ALWAYS


def covers(mode: InterruptMode, surface: Surface) -> bool:
    """Whether a hit on `surface` interrupts under `mode` (elsewhere it leaves a reminder)."""
    match mode:
        case InterruptMode.ALWAYS:
            return True
        case InterruptMode.NEVER:
            return False
        case InterruptMode.PROSE_ONLY:
            return surface is not Surface.TOOL
        case InterruptMode.TOOL_ONLY:
            return surface is Surface.TOOL


def allows(live: LiveRule, delivered: Mapping[str, int]) -> bool:
    """Whether the repeat policy lets a rule act in this turn.

    `delivered`: rule name to the age of its newest delivery that stands in this request's model
    view, in assistant messages of the client view, the anchor's own included.
    """
    age = delivered.get(live.rule.name)
    if age is None:
        return True
    return live.repeat_mode is RepeatMode.AFTER_GAP and age >= live.repeat_gap
