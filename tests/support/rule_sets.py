"""Rule sets for tests, put together from plain values."""

from __future__ import annotations

from rules_engine.globs import Glob
from rules_engine.problems import Code, Problem
from rules_engine.rule import Bucket, ContextMode, InterruptMode, RepeatMode, Rule
from rules_engine.ruleset import ListedRule, LiveRule, RuleSet
from rules_engine.scope import ScopeToken, Surface


def a_rule(name: str, convention: str = "native", **values: object) -> Rule:
    """One rule with a condition; any field can be given by name."""
    fields: dict[str, object] = {
        "name": name,
        "path": f".omp/rules/{name}.md",
        "convention": convention,
        "body": "Do not.",
        "conditions": ("any",),
    }
    return Rule(**(fields | values))  # type: ignore[arg-type]


def a_rule_set() -> RuleSet:
    """Two rules in force, an always-on one, one that is shadowed and one that is switched off."""
    scope = (ScopeToken(Surface.TEXT), ScopeToken(Surface.TOOL, "edit", Glob("*.ts")))
    no_any = a_rule("no-any", scope=scope, description="No any.")
    asked = a_rule("asked", conditions=(), question="Is it rude?")
    listed = (
        ListedRule(a_rule("no-any", "builtin-defaults"), Bucket.INACTIVE, "shadowed"),
        ListedRule(no_any, Bucket.TTSR),
        ListedRule(asked, Bucket.TTSR),
        ListedRule(a_rule("always", conditions=(), always_apply=True), Bucket.ALWAYS),
        ListedRule(a_rule("off"), Bucket.INACTIVE, "disabled"),
    )
    live = tuple(
        LiveRule(rule, InterruptMode.ALWAYS, ContextMode.KEEP, RepeatMode.ONCE, 10)
        for rule in (no_any, asked)
    )
    problem = Problem(Code.BAD_YAML, ".omp/rules/bad.md", line=2, detail="unexpected end")
    return RuleSet("v1", live, listed, (problem,))
