"""Every rule of one directory as the server would have it: state, reason, what is wrong with it."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from proxy.config import Settings, dsh_home
from proxy.errors import CannotRun
from proxy.gate import trust_of
from proxy.workspace import WorkspaceOptions, Workspaces
from rules_engine.frontmatter import parse_rule
from rules_engine.problems import Code, Problem, Severity
from rules_engine.rule import Bucket, InterruptMode, Origin, Rule
from rules_engine.ruleset import ListedRule, Reason, RuleSet, RuleSetOptions, build
from rules_engine.scope import ScopeToken

# Nobody waits for a request here, so a slow disk is no reason to give up early.
_PATIENCE = 60.0
_NO_RULE = {Code.UNREADABLE, Code.BAD_LINK, Code.TOO_LARGE, Code.BINARY, Code.EMPTY_BODY}

State = Literal["in-force", "off"]

REASONS: Mapping[str, str] = MappingProxyType(
    {
        Reason.DISABLED: "it is switched off; take its name out of ttsr.disabledRules, or "
        "`enabled: false` out of its file",
        Reason.BUILTINS_OFF: "built-in rules are switched off; set ttsr.builtinRules to true",
        Reason.AGENT_FILTER: "its `agents` do not name this agent; change them, or ask with "
        "--agent",
        Reason.NO_TRIGGER: "its file has no trigger that is in force: give it a `condition` or an "
        "`astCondition`, or `alwaysApply: true`, or a `description` to be listed to the model",
        Reason.SHADOWED: "another file of the same name comes first; rename one of them",
        Reason.INVALID: "its file has an error; correct what stands below",
        Reason.TTSR_OFF: "triggers are switched off; set `enabled` and ttsr.enabled to true",
        Reason.UNTRUSTED: "project rules are not trusted; set `trust` to all to use them",
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule file. `rule` None: the file is none, and `problems` say why.

    `mode`: what is in force, None where the rule is no trigger.
    """

    name: str
    path: str
    bucket: Bucket
    reason: str | None
    rule: Rule | None
    mode: InterruptMode | None
    problems: tuple[Problem, ...]

    @property
    def bundled(self) -> bool:
        """Whether the rule comes with the proxy."""
        return self.rule is not None and self.rule.origin is Origin.BUILTIN

    @property
    def state(self) -> State:
        """Whether the rule does anything."""
        return "off" if self.bucket is Bucket.INACTIVE else "in-force"


@dataclass(frozen=True, slots=True)
class Inventory:
    """What one directory has, in precedence order.

    `problems`: of every file and the settings, by file and line.
    """

    ruleset: RuleSet
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]

    def named(self, name: str) -> tuple[Entry, ...]:
        """Give every file of that name, the one that counts first."""
        return tuple(entry for entry in self.entries if entry.name == name)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries to show; None where it does not matter."""

    state: str | None = None
    reason: str | None = None
    convention: str | None = None
    bucket: str | None = None

    def admits(self, entry: Entry) -> bool:
        """Whether an entry is wanted."""
        convention = entry.rule.convention if entry.rule else None
        pairs = (
            (self.state, entry.state),
            (self.reason, entry.reason),
            (self.convention, convention),
            (self.bucket, entry.bucket),
        )
        return all(wanted is None or wanted == found for wanted, found in pairs)


def take(settings: Settings, agent: str = "main", home: Path | None = None) -> Inventory:
    """Discover and build what governs `settings.workspace`, by the server's own way.

    `home`: where the user's own rules are, instead of the user's home directory. Raises
    RulesNotReady where the rules could not be built.
    """
    ruleset = asyncio.run(_ruleset(settings, agent, home or Path.home()))
    return _inventory(ruleset, (*ruleset.problems, *_of_dropped(ruleset.listed)))


def _inventory(ruleset: RuleSet, problems: Sequence[Problem]) -> Inventory:
    unique = tuple(sorted(dict.fromkeys(problems), key=lambda each: (each.file, each.line or 0)))
    modes = {live.rule: live.mode for live in ruleset.live}
    listed = [_entry(each, modes.get(each.rule), unique) for each in ruleset.listed]
    return Inventory(ruleset, (*listed, *_unlisted(ruleset, unique)), unique)


async def _ruleset(settings: Settings, agent: str, home: Path) -> RuleSet:
    options = WorkspaceOptions.of(
        settings,
        loopback=not trust_of(settings.listen).token_needed,
        home=home,
        dsh_home=dsh_home(),
    )
    workspaces = Workspaces(replace(options, rules_timeout=_PATIENCE, logs_problems=False))
    try:
        return await workspaces.ruleset(role=agent)
    finally:
        workspaces.close()


def alone(path: Path, agent: str) -> Inventory:
    """One rule file by itself: no settings, no other rules, and `enabled` does not matter.

    Raises CannotRun where it is no rule that could hit, or is not for this agent.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CannotRun(f"the rule file {path} cannot be read: {error.strerror}.") from None
    rule, problems = parse_rule(content, path.stem, str(path), "file")
    if rule is None:
        raise CannotRun(_unusable(path, problems))
    if not rule.admits_agent(agent):
        words = ", ".join(rule.agents)
        raise CannotRun(f"the rule {rule.name} is not for the agent {agent}, but for: {words}.")
    ruleset = build((replace(rule, enabled=True),), RuleSetOptions(agent=agent), problems)
    inventory = _inventory(ruleset, ruleset.problems)
    if not ruleset.live and not rule.question:
        raise CannotRun(_unusable(path, inventory.problems))
    return inventory


def _unusable(path: Path, problems: Iterable[Problem]) -> str:
    told = "\n".join(f"  {problem.render()}" for problem in problems)
    return f"{path} holds no trigger that could hit" + (f":\n{told}" if told else ".")


def _of_dropped(listed: Iterable[ListedRule]) -> Iterator[Problem]:
    """What is wrong with rules that were never compiled, since something else keeps them off."""
    for each in listed:
        if each.reason is not None:
            yield from build((replace(each.rule, agents=()),), RuleSetOptions()).problems


def _entry(listed: ListedRule, mode: InterruptMode | None, problems: Sequence[Problem]) -> Entry:
    rule = listed.rule
    own = tuple(problem for problem in problems if problem.file == rule.path)
    return Entry(rule.name, rule.path, listed.bucket, listed.reason, rule, mode, own)


def _unlisted(ruleset: RuleSet, problems: Sequence[Problem]) -> Iterator[Entry]:
    """Files that are no rules, or are switched off by themselves."""
    known = {listed.rule.path for listed in ruleset.listed}
    for problem in problems:
        off = problem.code is Code.SWITCHED_OFF
        if problem.file in known or not (off or problem.code in _NO_RULE):
            continue
        known.add(problem.file)
        stem, ending = posixpath.splitext(posixpath.basename(problem.file))
        if ending in (".md", ".mdc"):
            own = tuple(each for each in problems if each.file == problem.file)
            reason = Reason.DISABLED if off else Reason.INVALID
            yield Entry(stem, problem.file, Bucket.INACTIVE, reason, None, None, own)


def why(entry: Entry) -> str:
    """Tell a rule's author why a rule is in force or not, and what to do about it."""
    head = f"{entry.name} ({entry.path}): {entry.state}"
    if entry.state == "in-force":
        head += f", as {_role(entry)}"
    if entry.reason:
        head += f"; {entry.reason}: {REASONS.get(entry.reason, entry.reason)}"
    return "\n".join([f"{head}.", *(f"  {problem.render()}" for problem in entry.problems)])


def _role(entry: Entry) -> str:
    match entry.bucket:
        case Bucket.TTSR:
            return f"a trigger (interruptMode {entry.mode})"
        case Bucket.ALWAYS:
            return "text that always stands in the prompt"
        case _:
            return "an entry that the prompt lists"


def fields(entry: Entry) -> dict[str, Any]:
    """One entry as JSON."""
    rule = entry.rule
    head = {
        "name": entry.name,
        "path": entry.path,
        "provider": rule.convention if rule else None,
        "convention": rule.convention if rule else None,
        "origin": rule.origin if rule else None,
        "bucket": entry.bucket,
        "state": entry.state,
        "reason": entry.reason,
        "interruptMode": entry.mode or (rule.interrupt_mode if rule else None),
    }
    return head | _written(rule) | {"problems": [problem_fields(each) for each in entry.problems]}


def _written(rule: Rule | None) -> dict[str, Any]:
    if rule is None:
        return {}
    return {
        "description": rule.description,
        "alwaysApply": rule.always_apply,
        "condition": list(rule.conditions),
        "astCondition": list(rule.ast_conditions),
        "question": rule.question,
        "scope": [scope_word(token) for token in rule.scope],
        "globs": [glob.pattern for glob in rule.globs],
        "agents": list(rule.agents),
    }


def scope_word(token: ScopeToken) -> str:
    """Write a scope token as a rule's author would."""
    glob = f"({token.glob.pattern})" if token.glob else ""
    return f"{token.surface}:{token.tool}{glob}" if token.tool else f"{token.surface}{glob}"


def problem_fields(problem: Problem) -> dict[str, Any]:
    """One problem as JSON; `message` is the whole sentence."""
    return {
        "code": problem.code,
        "severity": problem.severity,
        "file": problem.file,
        "line": problem.line,
        "field": problem.field,
        "found": problem.found,
        "allowed": problem.allowed,
        "detail": problem.detail,
        "advice": problem.advice,
        "message": problem.render(),
    }


def counted(problems: Iterable[Problem]) -> dict[str, int]:
    """How many problems of each severity, all of them named."""
    severities = [problem.severity for problem in problems]
    return {f"{severity}s": severities.count(severity) for severity in Severity}
