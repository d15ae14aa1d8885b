"""A rule and its closed vocabularies: frozen values, equal by content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rules_engine.globs import Glob
from rules_engine.scope import (
    DEFAULT_SCOPE,
    ScopeToken,
    Surface,
    admits,
    may_admit,
)

CATCH_ALL = r"[\s\S]*"
BUILTIN = "builtin-defaults"


class Origin(StrEnum):
    """Who put a rule file where it is."""

    PROJECT = "project"
    USER = "user"
    PLUGIN = "plugin"
    BUILTIN = "builtin"


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

    `scope`: empty means that the file's scope reaches nothing, not that it has none.
    `catch_all`: `CATCH_ALL` among the conditions stands for conditions that look like paths.
    `lines`: where each field stands in the file, from 1; no part of what the rule says.
    """  # noqa: D205 - one sentence and its examples

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
    scope: tuple[ScopeToken, ...] = DEFAULT_SCOPE
    globs: tuple[Glob, ...] = ()
    agents: tuple[str, ...] = ()
    interrupt_mode: InterruptMode | None = None
    context_mode: ContextMode | None = None
    repeat_mode: RepeatMode | None = None
    repeat_gap: int | None = None
    reminder: str | None = None
    catch_all: bool = False
    origin: Origin = Origin.PROJECT
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def has_trigger(self) -> bool:
        """Whether the file asks for any trigger at all."""
        return bool(self.conditions or self.ast_conditions or self.question)

    def watches(
        self,
        surface: Surface,
        tool_names: tuple[str, ...] = (),
        candidates: tuple[str, ...] = (),
    ) -> bool:
        """Both gates: a scope token admits the output, and one of the globs its path.

        Prose has no path, so a rule with globs never watches it.
        """
        return admits(self.scope, surface, tool_names, candidates) and (
            not self.globs or any(glob.matches(candidates) for glob in self.globs)
        )

    def may_watch(self, surface: Surface, tool_names: tuple[str, ...] = ()) -> bool:
        """Whether the rule could watch the output, its path (and a missing name) unknown."""
        return may_admit(self.scope, surface, tool_names) and (
            not self.globs
            or (surface is Surface.TOOL and not all(glob.malformed for glob in self.globs))
        )

    def admits_agent(self, agent: str) -> bool:
        """Whether the rule is for the agent of this role; roles are compared in lower case."""
        role = agent.lower()
        return not self.agents or any(
            role == wanted or Glob(wanted).matches((role,)) for wanted in self.agents
        )

    @property
    def instruction(self) -> str:
        """The text that a note carries: the reminder where there is a valid one, else the body."""
        return self.reminder or self.body

    @property
    def body_hash(self) -> str:
        """Identity of what a note of this rule says; an edited rule counts as a new one."""
        return hashlib.sha256(self.instruction.encode("utf-8", "replace")).hexdigest()[:16]
