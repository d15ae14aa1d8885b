"""What `/audit` answers: rules with their state and counts, and the figures over them; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proxy.audit import Tally
from proxy.store import RuleCount, TurnRecord
from rules_engine.decisions import Action
from rules_engine.problems import Problem
from rules_engine.rule import Bucket, Rule
from rules_engine.ruleset import ListedRule, RuleSet
from rules_engine.scope import ScopeToken

# What puts a rule's text before the model; a refused call counts as one here.
DELIVERIES = (
    Action.INTERRUPT,
    Action.REFUSE,
    Action.TOOL_REMINDER,
    Action.PROSE_REMINDER,
    Action.WARNING,
)
_BANDS = ("never", "once", "twice", "three", "four_or_more")

Counts = Mapping[str, Mapping[str, int]]


def rule_rows(rules: RuleSet, tally: Tally) -> list[dict[str, Any]]:
    """Every discovered rule in order, with state, reason, settings in force and counts."""
    counts = _by_rule(tally.counts)
    live = {entry.rule.name: entry for entry in rules.live}
    holders = _holders(rules.listed)
    rows = []
    for listed in rules.listed:
        mine = counts.get(listed.rule.name, {}) if holders[listed.rule.name] is listed else {}
        row = _described(listed)
        entry = live.get(listed.rule.name)
        if entry is not None and entry.rule == listed.rule:
            row |= {
                "interrupt_mode": entry.mode.value,
                "context_mode": entry.context_mode.value,
                "repeat_mode": entry.repeat_mode.value,
                "repeat_gap": entry.repeat_gap,
            }
        rows.append(row | {"deliveries": _deliveries(mine), "counts": _complete(mine)})
    return rows


def problem_rows(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """List what is wrong with rule files, in words and in codes."""
    return [
        {
            "code": problem.code.value,
            "severity": problem.severity.value,
            "file": problem.file,
            "line": problem.line,
            "field": problem.field,
            "message": problem.render(),
        }
        for problem in problems
    ]


def statistics(rules: RuleSet | None, tally: Tally, turns: Sequence[TurnRecord]) -> dict[str, Any]:
    """Totals by action and by rule, the six figures, the distribution, the composition."""
    counts = _by_rule(tally.counts)
    listed = rules.listed if rules is not None else ()
    return {
        "by_action": _complete(_summed(counts.values())),
        "by_rule": {name: _complete(actions) for name, actions in sorted(counts.items())},
        "rules": _figures(listed, counts),
        "distribution": distribution(
            _deliveries(counts.get(name, {})) for name in _holders(listed)
        ),
        "composition": _composition(listed),
        "turns": _turn_figures(turns),
    }


def distribution(deliveries: Iterable[int]) -> dict[str, int]:
    """Count rules by how often they were delivered, in five fixed bands."""
    bands = dict.fromkeys(_BANDS, 0)
    for count in deliveries:
        bands[_BANDS[min(count, len(_BANDS) - 1)]] += 1
    return bands


def _holders(listed: Iterable[ListedRule]) -> dict[str, ListedRule]:
    """Name to the rule that owns its counts: the one in force, not those that it shadows."""
    holders: dict[str, ListedRule] = {}
    for entry in listed:
        held = holders.get(entry.rule.name)
        if held is None or (held.bucket is Bucket.INACTIVE and entry.bucket is not Bucket.INACTIVE):
            holders[entry.rule.name] = entry
    return holders


def _figures(listed: Sequence[ListedRule], counts: Counts) -> dict[str, int]:
    """Six figures: rules, then deliveries; only a rule with a trigger can be never delivered."""
    holders = _holders(listed)
    in_force = [entry for entry in listed if entry.bucket is not Bucket.INACTIVE]
    delivered = {name: _deliveries(actions) for name, actions in counts.items()}
    return {
        "discovered": len(listed),
        "in_force": len(in_force),
        "switched_off": len(listed) - len(in_force),
        "delivered_here": sum(n for name, n in delivered.items() if name in holders),
        "delivered_elsewhere": sum(n for name, n in delivered.items() if name not in holders),
        "never_delivered": sum(
            entry.bucket is Bucket.TTSR and not delivered.get(entry.rule.name, 0)
            for entry in in_force
        ),
    }


def _composition(listed: Sequence[ListedRule]) -> dict[str, dict[str, int]]:
    return {
        "sources": _numbered(entry.rule.convention for entry in listed),
        "states": _numbered(_why_off(entry) or _state(entry) for entry in listed),
        "triggers": _numbered(kind for entry in listed for kind in _triggers(entry.rule)),
    }


def _turn_figures(turns: Sequence[TurnRecord]) -> dict[str, int]:
    """Over the newest turns. Tokens are those of abandoned attempts, as far as they are known."""
    return {
        "turns": len(turns),
        "reissued": sum(turn.attempts > 1 for turn in turns),
        "cured": sum(turn.cured is True for turn in turns),
        "not_cured": sum(turn.cured is False for turn in turns),
        "withheld_characters": sum(turn.withheld_characters for turn in turns),
        "abandoned_tokens": sum(_tokens(usage) for turn in turns for usage in turn.usage[:-1]),
        "abandoned_attempts_without_usage": sum(
            usage is None for turn in turns for usage in turn.usage[:-1]
        ),
        "unledgered": sum(turn.unledgered for turn in turns),
    }


def _described(listed: ListedRule) -> dict[str, Any]:
    rule = listed.rule
    return {
        "name": rule.name,
        "path": rule.path,
        "description": rule.description,
        "convention": rule.convention,
        "bucket": listed.bucket.value,
        "state": _state(listed),
        "reason": listed.reason,
        "triggers": _triggers(rule),
        "scope": [_token(token) for token in rule.scope],
        "globs": [glob.pattern for glob in rule.globs],
        "agents": list(rule.agents),
        "interrupt_mode": None if rule.interrupt_mode is None else rule.interrupt_mode.value,
        "context_mode": None if rule.context_mode is None else rule.context_mode.value,
        "repeat_mode": None if rule.repeat_mode is None else rule.repeat_mode.value,
        "repeat_gap": rule.repeat_gap,
    }


def _state(listed: ListedRule) -> str:
    return "off" if listed.bucket is Bucket.INACTIVE else "in_force"


def _why_off(listed: ListedRule) -> str | None:
    """Answer with the reason of a rule that is off; one in force may have a reason too."""
    return listed.reason if listed.bucket is Bucket.INACTIVE else None


def _triggers(rule: Rule) -> list[str]:
    kinds = {
        "condition": rule.conditions,
        "ast_condition": rule.ast_conditions,
        "question": rule.question,
    }
    return [kind for kind, trigger in kinds.items() if trigger]


def _token(token: ScopeToken) -> str:
    tool = f":{token.tool}" if token.tool is not None else ""
    glob = f"({token.glob.pattern})" if token.glob is not None else ""
    return f"{token.surface.value}{tool}{glob}"


def _by_rule(counts: Iterable[RuleCount]) -> dict[str, dict[str, int]]:
    by_rule: dict[str, dict[str, int]] = {}
    for count in counts:
        actions = by_rule.setdefault(count.rule, {})
        actions[count.action] = actions.get(count.action, 0) + count.count
    return by_rule


def _summed(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for key, count in part.items():
            total[key] = total.get(key, 0) + count
    return total


def _complete(actions: Mapping[str, int]) -> dict[str, int]:
    return {action.value: actions.get(action.value, 0) for action in Action}


def _deliveries(actions: Mapping[str, int]) -> int:
    return sum(actions.get(action.value, 0) for action in DELIVERIES)


def _numbered(keys: Iterable[str]) -> dict[str, int]:
    return _summed({key: 1} for key in keys)


def _tokens(usage: Mapping[str, int] | None) -> int:
    if usage is None:
        return 0
    parts = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens")
    return usage.get("total_tokens", sum(usage.get(part, 0) for part in parts))
