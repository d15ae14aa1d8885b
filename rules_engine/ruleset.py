"""Precedence, buckets; compiled once, immutable."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from rules_engine.dialect import DialectError, compile_pattern
from rules_engine.matcher import Matcher
from rules_engine.problems import Code, Problem
from rules_engine.rule import (
    CATCH_ALL,
    Bucket,
    ContextMode,
    InterruptMode,
    Origin,
    RepeatMode,
    Rule,
)
from rules_engine.scope import Surface
from rules_engine.triggers.pattern import PatternTrigger
from rules_engine.triggers.structure import (
    StructureError,
    StructureTrigger,
    compile_structure,
    languages_named,
)


class Reason(StrEnum):
    """Why a discovered rule is not in force, or not as a trigger."""

    DISABLED = "disabled"
    BUILTINS_OFF = "builtins-off"
    AGENT_FILTER = "agent-filter"
    NO_TRIGGER = "no-trigger"
    SHADOWED = "shadowed"
    INVALID = "invalid"
    TTSR_OFF = "ttsr-off"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class RuleSetOptions:
    """The settings that decide which rules are in force and how, for one agent role.

    `mode_overrides`: entries `name=mode`, split at the last `=`; they win over the file.
    `trust_user_only`: project rules are left out before names are compared.
    """

    enabled: bool = True
    interrupt_mode: InterruptMode = InterruptMode.ALWAYS
    context_mode: ContextMode = ContextMode.KEEP
    repeat_mode: RepeatMode = RepeatMode.ONCE
    repeat_gap: int = 10
    builtin_rules: bool = True
    disabled_rules: tuple[str, ...] = ()
    mode_overrides: tuple[str, ...] = ()
    agent: str = "main"
    trust_user_only: bool = False


@dataclass(frozen=True, slots=True)
class LiveRule:
    """A rule in force, with every setting resolved (override, then file, then setting).

    `prose`: surfaces of prose that its patterns watch. `tools`: whether it may watch calls.
    """

    rule: Rule
    mode: InterruptMode
    context_mode: ContextMode
    repeat_mode: RepeatMode
    repeat_gap: int
    patterns: tuple[PatternTrigger, ...] = ()
    structures: tuple[StructureTrigger, ...] = ()
    prose: frozenset[Surface] = field(init=False, compare=False, repr=False)
    tools: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        surfaces = (Surface.TEXT, Surface.THINKING) if self.patterns else ()
        prose = frozenset(surface for surface in surfaces if self.rule.may_watch(surface))
        # The way in which a frozen value is completed while it is made.
        object.__setattr__(self, "prose", prose)
        object.__setattr__(self, "tools", self.rule.may_watch(Surface.TOOL))


@dataclass(frozen=True, slots=True)
class ListedRule:
    """Any discovered rule, in force or not. `reason`: the code why it is not, or why not as a
    trigger although its file asks for one.
    """  # noqa: D205 - one sentence

    rule: Rule
    bucket: Bucket
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Everything that one workspace and agent role has. `live`: trigger rules in precedence order.

    `matcher`: what finds candidates among all their patterns; None for windows to make one.
    `version` is the same for the same rules and options, wherever it is computed.
    `memo`: what follows from the rules alone, by what it is; made once for all turns.
    """

    version: str
    live: tuple[LiveRule, ...]
    listed: tuple[ListedRule, ...]
    problems: tuple[Problem, ...]
    matcher: Matcher | None = field(default=None, compare=False, repr=False)
    memo: dict[Hashable, object] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )


@dataclass(frozen=True, slots=True)
class _Accepted:
    """The usable triggers of a rule, or the reason why there are none."""

    patterns: tuple[PatternTrigger, ...] = ()
    structures: tuple[StructureTrigger, ...] = ()
    reason: Reason | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def usable(self) -> bool:
        return bool(self.patterns or self.structures)


# Names under which a file may give its conditions, the one that wins first.
_CONDITION_FIELDS = ("condition", "ttsr_trigger", "ttsrTrigger")

_Compiled = Mapping[str, PatternTrigger]


def build(
    rules: Sequence[Rule],
    options: RuleSetOptions,
    problems: Sequence[Problem] = (),
    previous: RuleSet | None = None,
    ready: Mapping[str, PatternTrigger] | None = None,
) -> RuleSet:
    """Bucket and compile rules given in precedence order; the first of a name wins.

    `problems`: what discovery found; carried along in front of what is found here. A broken
    rule is a problem and the others go on. `previous`: a set whose patterns need no compiling,
    as do those that are `ready`, by their sources.
    """
    compiled = {**(_compiled(previous) if previous else {}), **(ready or {})}
    modes, found = _overrides(options.mode_overrides)
    live: list[LiveRule] = []
    listed: list[ListedRule] = []
    taken: set[str] = set()
    for rule in rules:
        reason = _dropped(rule, options, taken)
        if reason is not Reason.UNTRUSTED:
            taken.add(rule.name)
        accepted = _Accepted(reason=reason) if reason else _accept(rule, options, compiled)
        found += accepted.problems
        if accepted.usable:
            live.append(_resolve(rule, options, modes, accepted))
        listed.append(_list(rule, accepted, in_force=reason is None))
    return RuleSet(
        version=_version(rules, options),
        live=tuple(live),
        listed=tuple(listed),
        problems=(*problems, *found),
        matcher=_matcher(live, previous),
    )


def _matcher(live: Iterable[LiveRule], previous: RuleSet | None) -> Matcher:
    """Number all patterns; where they are the same as before, what was compiled serves on."""
    made = Matcher(trigger.pattern for each in live for trigger in each.patterns)
    known = previous.matcher if previous else None
    return known if known is not None and known.numbers == made.numbers else made


def _dropped(rule: Rule, options: RuleSetOptions, taken: Iterable[str]) -> Reason | None:
    """Why a rule is in no bucket at all, whatever its file says."""
    if options.trust_user_only and rule.origin is Origin.PROJECT:
        return Reason.UNTRUSTED
    if rule.name in {name.strip() for name in options.disabled_rules}:
        return Reason.DISABLED
    if rule.origin is Origin.BUILTIN and not options.builtin_rules:
        return Reason.BUILTINS_OFF
    if rule.name in taken:
        return Reason.SHADOWED
    return None if rule.admits_agent(options.agent) else Reason.AGENT_FILTER


def _list(rule: Rule, accepted: _Accepted, *, in_force: bool) -> ListedRule:
    if accepted.usable:
        return ListedRule(rule, Bucket.TTSR)
    if in_force and rule.always_apply:
        return ListedRule(rule, Bucket.ALWAYS, accepted.reason if rule.has_trigger else None)
    if in_force and rule.description:
        return ListedRule(rule, Bucket.RULEBOOK, accepted.reason if rule.has_trigger else None)
    return ListedRule(rule, Bucket.INACTIVE, accepted.reason)


def _accept(rule: Rule, options: RuleSetOptions, compiled: _Compiled) -> _Accepted:
    """Compile the triggers of a rule that could be in force."""
    if not rule.has_trigger:
        return _Accepted(reason=Reason.NO_TRIGGER)
    patterns, problems = _compile(rule, compiled)
    structures, found = _compile_structures(rule)
    problems += found
    if rule.question:
        line = rule.lines.get("question")
        problems += (Problem(Code.UNSUPPORTED_TRIGGER, rule.path, "question", line),)
    if not options.enabled:
        return _Accepted(reason=Reason.TTSR_OFF, problems=problems)
    # With a question, the patterns only choose what is asked about: they never hit alone.
    if rule.question:
        return _Accepted(reason=Reason.NO_TRIGGER, problems=problems)
    if not (patterns or structures) or _reaches_nothing(rule):
        return _Accepted(reason=Reason.INVALID, problems=problems)
    return _Accepted(patterns, structures, problems=problems)


def _reaches_nothing(rule: Rule) -> bool:
    return not any(rule.may_watch(surface) for surface in Surface)


def _compiled(ruleset: RuleSet) -> _Compiled:
    return {trigger.pattern.source: trigger for live in ruleset.live for trigger in live.patterns}


def _compile(
    rule: Rule, compiled: _Compiled
) -> tuple[tuple[PatternTrigger, ...], tuple[Problem, ...]]:
    """Compile each condition alone, so that a broken one takes no other with it."""
    triggers: list[PatternTrigger] = []
    problems: list[Problem] = []
    for source in rule.conditions:
        try:
            trigger = compiled.get(source) or _trigger(source)
        except DialectError as error:
            problems.append(_pattern_problem(Code.BAD_PATTERN, rule, source, error.reason))
            continue
        ours = rule.catch_all and source == CATCH_ALL
        if trigger.pattern.matches_empty and not ours:
            problems.append(_pattern_problem(Code.MATCHES_EMPTY, rule, source))
            continue
        notes = () if ours else trigger.pattern.notes
        problems += (_pattern_problem(Code.PATTERN_NOTE, rule, source, note) for note in notes)
        triggers.append(trigger)
    return tuple(triggers), tuple(problems)


@lru_cache(maxsize=1024)
def _trigger(source: str) -> PatternTrigger:
    """Compile a condition once for all rule sets: every one of them has the bundled rules."""
    return PatternTrigger(compile_pattern(source))


def _pattern_problem(code: Code, rule: Rule, source: str, detail: str = "") -> Problem:
    field = next((name for name in _CONDITION_FIELDS if name in rule.lines), "condition")
    return Problem(code, rule.path, field, rule.lines.get(field), source, detail=detail)


def _compile_structures(
    rule: Rule,
) -> tuple[tuple[StructureTrigger, ...], tuple[Problem, ...]]:
    """Compile each structure alone; where no tool is watched there is no source to search."""
    line = rule.lines.get("astCondition")
    if rule.ast_conditions and not any(token.surface is Surface.TOOL for token in rule.scope):
        problem = Problem(Code.STRUCTURE_WITHOUT_TOOL, rule.path, "astCondition", line)
        return (), (problem,)
    named = _languages(rule)
    triggers: list[StructureTrigger] = []
    problems: list[Problem] = []
    for source in rule.ast_conditions:
        match compile_structure(source, named):
            case StructureError(reason):
                problem = Problem(
                    Code.BAD_PATTERN, rule.path, "astCondition", line, source, detail=reason
                )
                problems.append(problem)
            case trigger:
                triggers.append(trigger)
    # Globs that match nothing are problems already; without them the rule has no structures.
    return tuple(triggers) if rule.may_watch(Surface.TOOL) else (), tuple(problems)


def _languages(rule: Rule) -> frozenset[str]:
    """Give the languages that the rule's globs name; none where one of them names none."""
    globs = rule.globs or [token.glob for token in rule.scope if token.surface is Surface.TOOL]
    named = [languages_named(glob.pattern if glob is not None else "") for glob in globs]
    return frozenset().union(*named) if all(named) else frozenset()


def _resolve(
    rule: Rule,
    options: RuleSetOptions,
    modes: Mapping[str, InterruptMode],
    accepted: _Accepted,
) -> LiveRule:
    return LiveRule(
        rule=rule,
        mode=modes.get(rule.name) or rule.interrupt_mode or options.interrupt_mode,
        context_mode=rule.context_mode or options.context_mode,
        repeat_mode=rule.repeat_mode or options.repeat_mode,
        repeat_gap=rule.repeat_gap or options.repeat_gap,
        patterns=accepted.patterns,
        structures=accepted.structures,
    )


def _overrides(
    entries: Sequence[str],
) -> tuple[dict[str, InterruptMode], list[Problem]]:
    modes: dict[str, InterruptMode] = {}
    problems: list[Problem] = []
    for entry in entries:
        name, _, written = entry.rpartition("=")
        mode = next((each for each in InterruptMode if each == written.strip().lower()), None)
        if name.strip() and mode:
            modes[name.strip()] = mode
            continue
        allowed = ", ".join(f"name={each}" for each in InterruptMode)
        problems.append(
            Problem(Code.BAD_OVERRIDE, "settings", "modeOverrides", None, entry, allowed)
        )
    return modes, problems


def _version(rules: Sequence[Rule], options: RuleSetOptions) -> str:
    written = repr((tuple(rules), options)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(written).hexdigest()[:16]
