from __future__ import annotations

import pytest

from rules_engine.globs import Glob
from rules_engine.rule import Rule
from rules_engine.scope import ScopeToken, Surface


def rule(**fields: object) -> Rule:
    return Rule(**{"name": "n", "path": "n.md", "convention": "native", "body": "b", **fields})  # type: ignore[arg-type] # a table of fields


@pytest.mark.case(15)
def test_instruction_is_the_reminder_where_there_is_one() -> None:
    """A note carries the reminder; without one, the body."""
    assert rule(reminder="short").instruction == "short"
    assert rule().instruction == "b"


def test_body_hash_follows_the_instruction() -> None:
    """An edited rule counts as a new one; its name does not matter."""
    assert rule().body_hash == rule(name="other").body_hash
    assert rule().body_hash != rule(reminder="x").body_hash
    assert rule(body="\ud800").body_hash


@pytest.mark.case(37)
def test_rule_with_globs_never_watches_prose() -> None:
    """Prose has no path, so a rule with globs watches tools alone."""
    gated = rule(globs=(Glob("**/*.ts"),))
    assert not gated.watches(Surface.TEXT)
    assert not gated.may_watch(Surface.TEXT)
    assert gated.may_watch(Surface.TOOL)
    assert gated.watches(Surface.TOOL, ("edit",), ("src/a.ts",))
    assert not gated.watches(Surface.TOOL, ("edit",), ("a.md",))


def test_rule_whose_globs_all_match_nothing_watches_nothing() -> None:
    """One glob that can match is enough, of its own and of its scope."""
    assert not rule(globs=(Glob("{a"), Glob("!b"))).may_watch(Surface.TOOL)
    assert rule(globs=(Glob("{a"), Glob("b"))).may_watch(Surface.TOOL)


def test_rule_gates_are_both_asked() -> None:
    """The glob of a scope token and the rule's own globs must both hold."""
    scope = (ScopeToken(Surface.TOOL, "edit", Glob("src/**")),)
    both = rule(scope=scope, globs=(Glob("*.ts"),))
    assert both.watches(Surface.TOOL, ("edit",), ("src/a.ts",))
    assert not both.watches(Surface.TOOL, ("edit",), ("src/a.md",))
    assert not both.watches(Surface.TOOL, ("edit",), ("lib/a.ts",))


@pytest.mark.case(38)
@pytest.mark.case(41)
@pytest.mark.parametrize(
    ("agents", "agent", "admitted"),
    [
        ((), "sub", True),
        (("main",), "main", True),
        (("main",), "sub", False),
        (("sub",), "sub", True),
        (("sub",), "main", False),
    ],
)
def test_rule_is_for_its_agents(agents: tuple[str, ...], agent: str, *, admitted: bool) -> None:
    """Without agents a rule is for every one; else for those named."""
    assert rule(agents=agents).admits_agent(agent) is admitted


@pytest.mark.case(39)
def test_rule_agents_are_globs_in_lower_case() -> None:
    """`rev*` admits the agent Reviewer."""
    assert rule(agents=("rev*",)).admits_agent("Reviewer")
    assert not rule(agents=("rev*",)).admits_agent("main")


def test_rule_has_a_trigger_of_any_kind() -> None:
    """Conditions, structures and questions are triggers; globs alone are none."""
    assert rule(conditions=("x",)).has_trigger
    assert rule(ast_conditions=("x",)).has_trigger
    assert rule(question="x").has_trigger
    assert not rule(globs=(Glob("*"),)).has_trigger
