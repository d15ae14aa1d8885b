"""Rule sets and turns for tests, made through the real parser and builder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rules_engine.frontmatter import parse_rule
from rules_engine.policy import TurnOptions
from rules_engine.ruleset import RuleSet, RuleSetOptions, build
from rules_engine.tools import ToolFamily
from rules_engine.turn import Facts, Turn

FAMILIES = (
    ToolFamily(
        tools=("edit",),
        canonical=("edit",),
        paths=("path",),
        added=("new",),
        removed=("old",),
    ),
    ToolFamily(
        tools=("edits",), canonical=("edit",), paths=("path",), added=("edits[].new",),
        removed=("edits[].old",),
    ),
    ToolFamily(tools=("write",), canonical=("write",), paths=("path",), added=("content",)),
)  # fmt: skip


def rule_text(body: str = "Follow the rule.", **fields: object) -> str:
    """A rule file; field names are written as given, values as YAML flow scalars."""
    lines = [f"{key}: {_yaml(value)}" for key, value in fields.items()]
    return "\n".join(["---", *lines, "---", body, ""])


def ruleset(options: RuleSetOptions | None = None, /, **rules: str) -> RuleSet:
    """A rule set of files by rule name, in the order given."""
    parsed = []
    for name, text in rules.items():
        rule, problems = parse_rule(text, name, f".omp/rules/{name}.md", "native")
        assert rule is not None, problems
        parsed.append(rule)
    return build(parsed, options or RuleSetOptions())


def turn_of(
    rules: RuleSet,
    options: TurnOptions | None = None,
    *,
    tools: Sequence[str] = ("edit", "write", "edits"),
    delivered: Mapping[str, int] | None = None,
    observe: bool = False,
    forced_tool: bool = False,
    structured: bool = False,
) -> Turn:
    """A turn over these rules with the test families."""
    facts = Facts(
        tools=tuple(tools),
        families=FAMILIES,
        observe=observe,
        forced_tool=forced_tool,
        structured=structured,
    )
    return Turn(rules, facts, options or TurnOptions(), delivered or {}, now=0.0)


def _yaml(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
