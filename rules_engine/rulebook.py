"""Prompt layers: what the rules that have no trigger say in the system prompt.

`always` rules stand there whole, rulebook rules with name, file and description. The text is the
same as long as the rule set and the client's own prompt are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine import wording
from rules_engine.rule import Bucket, Rule
from rules_engine.ruleset import RuleSet


@dataclass(frozen=True, slots=True)
class _Sayings:
    """What a rule set says: `always` rules with their folded bodies, and the rulebook's layer."""

    always: tuple[tuple[Rule, str], ...]
    book: str

    @classmethod
    def of(cls, rules: RuleSet) -> _Sayings:
        """Make them once for all turns of the rule set."""
        key = (cls,)
        known = rules.memo.get(key)
        if isinstance(known, cls):
            return known
        always = tuple((rule, _folded(rule.body)) for rule in _once(_of(rules, Bucket.ALWAYS)))
        made = cls(always, wording.rulebook_layer(_of(rules, Bucket.RULEBOOK)))
        rules.memo[key] = made
        return made


def speaks(rules: RuleSet) -> bool:
    """Whether the rule set may have something to say in a system prompt."""
    sayings = _Sayings.of(rules)
    return bool(sayings.always or sayings.book)


def layers(rules: RuleSet, prompt: str, *, tools: bool) -> str:
    """The text to add to the system prompt; empty where there is nothing to say.

    `prompt`: what the client says itself; a rule whose text stands in it is not repeated.
    `tools`: whether the request declares any, so that the model could read a rule's file.
    """
    sayings = _Sayings.of(rules)
    said = _folded(prompt) if sayings.always else ""
    always = [rule for rule, body in sayings.always if body not in said]
    parts = (wording.always_layer(always), sayings.book if tools else "")
    return "\n\n".join(part for part in parts if part)


def _of(rules: RuleSet, bucket: Bucket) -> list[Rule]:
    return [listed.rule for listed in rules.listed if listed.bucket is bucket]


def _once(rules: Sequence[Rule]) -> list[Rule]:
    """Of rules that say the same the first."""
    first: dict[str, Rule] = {}
    for rule in rules:
        first.setdefault(rule.body.strip(), rule)
    return list(first.values())


def _folded(text: str) -> str:
    return " ".join(text.split())
