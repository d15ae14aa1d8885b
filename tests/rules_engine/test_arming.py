"""Which rules a turn watches, and which of their hits may stop it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest

from rules_engine.arming import Arming
from rules_engine.policy import ToolRefusal
from tests.support.rules import rule_text, ruleset


def armed(
    delivered: Mapping[str, int] | None = None,
    refusal: ToolRefusal = ToolRefusal.ALWAYS,
    /,
    *,
    observe: bool = False,
    **fields: object,
) -> Arming:
    """Arm a turn with one rule of these fields, `foo`."""
    trigger = {} if "astCondition" in fields else {"condition": "a"}
    rules = ruleset(foo=rule_text(**{**trigger, **fields}))  # type: ignore[arg-type] # a table of fields
    return Arming.of(rules, delivered or {}, refusal, observe=observe)


def counts(arming: Arming) -> tuple[int, int, int, bool]:
    """How many watch prose, interrupt it, and watch tools; and whether calls may be refused."""
    kinds: Sequence[Collection[object]] = (arming.prose, arming.interrupting, arming.tools)
    prose, interrupting, tools = (len(kind) for kind in kinds)
    return prose, interrupting, tools, arming.refuses


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (1, 1, 1, True)),
        ({"scope": "thinking"}, (1, 1, 0, False)),
        ({"scope": "tool"}, (0, 0, 1, True)),
        ({"globs": "*.ts"}, (0, 0, 1, True)),
        ({"scope": ["text", "edit({a)"]}, (1, 1, 0, False)),
        ({"interruptMode": "never"}, (1, 0, 1, False)),
        ({"interruptMode": "prose-only"}, (1, 1, 1, False)),
        ({"interruptMode": "tool-only"}, (1, 0, 1, True)),
        ({"astCondition": "eval($A)"}, (0, 0, 1, True)),
    ],
    ids=str,
)
def test_rule_is_watched_where_its_file_says(
    fields: dict[str, object], expected: tuple[int, int, int, bool]
) -> None:
    """Scope and globs say where; the mode says what stops."""
    arming = armed(**fields)
    assert counts(arming) == expected
    assert not arming.idle


@pytest.mark.parametrize(
    ("refusal", "mode", "observe", "watched"),
    [
        (ToolRefusal.ALWAYS, "always", False, True),
        (ToolRefusal.ALWAYS, "tool-only", False, True),
        (ToolRefusal.ALWAYS, "prose-only", False, False),
        (ToolRefusal.ALWAYS, "never", False, False),
        (ToolRefusal.ALWAYS, "always", True, False),
        (ToolRefusal.ONCE, "always", False, False),
    ],
)
def test_spent_rule_is_watched_on_calls_that_it_would_refuse(
    refusal: ToolRefusal, mode: str, *, observe: bool, watched: bool
) -> None:
    """What was told is told; a call that breaks the rule is kept back all the same."""
    arming = armed({"foo": 3}, refusal, observe=observe, interruptMode=mode)
    assert (len(arming.prose), len(arming.tools)) == (0, int(watched))
    assert arming.allowed == frozenset()
    assert arming.idle is not watched


def test_where_hits_are_only_reported_all_is_watched_and_nothing_stops() -> None:
    """A structure cuts no call there either."""
    arming = armed(observe=True)
    assert counts(arming) == (1, 0, 1, False)
    assert armed(astCondition="eval($A)").cutting == {"foo"}
    assert armed(astCondition="eval($A)", observe=True).cutting == frozenset()


def test_nothing_armed_is_idle() -> None:
    """As is a turn whose rules are off."""
    assert counts(Arming()) == (0, 0, 0, False)
    assert Arming().idle


def test_turns_of_the_same_rules_are_armed_once() -> None:
    """What was delivered counts only as far as it makes a difference, and little is kept."""
    rules = ruleset(
        foo=rule_text(condition="a"),
        bar=rule_text(condition="b", repeatMode="after-gap", repeatGap=3),
    )

    def arm(**delivered: int) -> Arming:
        return Arming.of(rules, delivered, ToolRefusal.ALWAYS, observe=False)

    assert arm() is arm() is arm(other=1) is arm(bar=5)
    assert arm(foo=1) is arm(foo=7)
    assert arm(foo=1).allowed == {"bar"}
    assert arm(bar=1).allowed == {"foo"}
    for number in range(200):
        rules.memo[number] = number
    arm(foo=1, bar=1)
    assert len(rules.memo) == 1
