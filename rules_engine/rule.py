"""A rule and its closed vocabularies: frozen values, equal by content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from rules_engine.globs import Glob
from rules_engine.scope import ScopeToken


class InterruptMode(StrEnum):
    """On which surfaces a hit interrupts; elsewhere it leaves a reminder."""

    NEVER = "never"
    PROSE_ONLY = "prose-only"
    TOOL_ONLY = "tool-only"
    ALWAYS = "always"


class ContextMode(StrEnum):
    """Whether the cut partial answer stays in the reissued request."""

    KEEP = "keep"
    DISCARD = "discard"


class RepeatMode(StrEnum):
    """Whether a delivered rule may act again in the same conversation."""

    ONCE = "once"
    AFTER_GAP = "after-gap"


class Bucket(StrEnum):
    """What a rule is used for once bucketed."""

    TTSR = "ttsr"
    ALWAYS = "always"
    RULEBOOK = "rulebook"
    INACTIVE = "inactive"


@dataclass(frozen=True, slots=True)
class Rule:
    """One Markdown rule file, parsed. Paths are shown ones: workspace-relative, `~/…`, or
    `builtin-defaults:<name>.md`; never an absolute home path.
    """  # noqa: D205

    name: str
    path: str
    convention: str
    body: str
    description: str | None = None
    always_apply: bool = False
    enabled: bool = True
    conditions: tuple[str, ...] = ()
    ast_conditions: tuple[str, ...] = ()  # patterns, or rule objects as canonical JSON
    question: str | None = None
    scope: tuple[ScopeToken, ...] = ()
    globs: tuple[Glob, ...] = ()
    agents: tuple[str, ...] = ()
    interrupt_mode: InterruptMode | None = None
    context_mode: ContextMode | None = None
    repeat_mode: RepeatMode | None = None
    repeat_gap: int | None = None
    reminder: str | None = None

    @property
    def instruction(self) -> str:
        """The text that a note carries: the reminder where there is a valid one, else the body."""
        return self.reminder or self.body

    @property
    def body_hash(self) -> str:
        """Identity of what a note of this rule says; an edited rule counts as a new one."""
        return hashlib.sha256(self.instruction.encode("utf-8", "replace")).hexdigest()[:16]
