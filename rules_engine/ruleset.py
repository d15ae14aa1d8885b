"""Precedence, buckets; compiled once, immutable."""

from __future__ import annotations

from dataclasses import dataclass

from rules_engine.problems import Problem
from rules_engine.rule import Bucket, ContextMode, InterruptMode, RepeatMode, Rule
from rules_engine.triggers.pattern import PatternTrigger


@dataclass(frozen=True, slots=True)
class LiveRule:
    """A rule in force, with every setting resolved (file, then override, then setting)."""

    rule: Rule
    mode: InterruptMode
    context_mode: ContextMode
    repeat_mode: RepeatMode
    repeat_gap: int
    patterns: tuple[PatternTrigger, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedRule:
    """Any discovered rule, in force or not. `reason`: the code why it is not (A22)."""

    rule: Rule
    bucket: Bucket
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Everything that one workspace and agent role has. `live`: trigger rules in precedence order."""

    version: str
    live: tuple[LiveRule, ...]
    listed: tuple[ListedRule, ...]
    problems: tuple[Problem, ...]
