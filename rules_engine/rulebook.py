"""Prompt layers: what the rules that have no trigger say in the system prompt.

`always` rules stand there whole, rulebook rules with name, file and description. The text is the
same as long as the rule set and the client's own prompt are.
"""

from __future__ import annotations

from collections.abc import Sequence

from rules_engine import wording
from rules_engine.rule import Bucket, Rule
from rules_engine.ruleset import RuleSet


def layers(rules: RuleSet, prompt: str, *, tools: bool) -> str:
    """The text to add to the system prompt; empty where there is nothing to say.

    `prompt`: what the client says itself; a rule whose text stands in it is not repeated.
    `tools`: whether the request declares any, so that the model could read a rule's file.
    """
    always = _once(_of(rules, Bucket.ALWAYS))
    said = _folded(prompt) if always else ""
    always = [rule for rule in always if _folded(rule.body) not in said]
    book = _of(rules, Bucket.RULEBOOK) if tools else []
    parts = (wording.always_layer(always), wording.rulebook_layer(book))
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
