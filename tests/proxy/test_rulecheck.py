from __future__ import annotations

from collections.abc import Sequence

import pytest

from proxy.config import Settings
from proxy.inventory import Entry, Inventory
from proxy.rulecheck import check
from proxy.trial import Ground, Output
from proxy.verdict import Held, Report, Verdict
from rules_engine.ruleset import RuleSetOptions
from rules_engine.scope import Surface
from tests.support.rules import rule_text, ruleset

CUT = "the output is cut after 8 characters, in front of the rest"
WHOLE = "all of it waits for the end, as `release: whole` says"
TEXT, TOOL = Surface.TEXT, Surface.TOOL


def ground(**settings: object) -> Ground:
    return Ground.of(Settings.model_validate(settings))


def checked(
    output: Output, on: Ground | None = None, options: RuleSetOptions | None = None, /, **rules: str
) -> Report:
    built = ruleset(options, **rules)
    modes = {live.rule: live.mode for live in built.live}
    entries = tuple(
        Entry(
            each.rule.name,
            each.rule.path,
            each.bucket,
            each.reason,
            each.rule,
            modes.get(each.rule),
            tuple(problem for problem in built.problems if problem.file == each.rule.path),
        )
        for each in built.listed
    )
    return check(Inventory(built, entries, built.problems), output, on or ground())


def only(report: Report) -> Verdict:
    (verdict,) = report.verdicts
    return verdict


def says(verdict: Verdict) -> Sequence[str]:
    return [f"{gate.name}: {gate.says}" for gate in verdict.gates]


@pytest.mark.parametrize(
    ("output", "rule", "stopped"),
    [
        (Output("a", TEXT), {"scope": "thinking"}, "scope: none of `thinking` admits text"),
        (
            Output("a", TOOL, "grep", "x"),
            {"scope": "tool:edit(*.ts)"},
            "scope: none of `tool:edit(*.ts)` admits tool:grep on x",
        ),
        (
            Output("a", TOOL, "bash"),
            {"scope": "tool:edit"},
            "scope: none of `tool:edit` admits tool:bash or tool:shell without a path",
        ),
        (
            Output("a", TOOL, "edit", "x.py"),
            {"globs": "*.ts"},
            "globs: none of `*.ts` matches x.py",
        ),
        (
            Output("a", TEXT),
            {"scope": "text, tool", "globs": "*.ts"},
            "globs: none of `*.ts` matches, since text has no path here",
        ),
        (Output("b", TEXT), {}, "trigger: no match for `a`"),
    ],
)
def test_the_gate_that_stopped_says_why(output: Output, rule: dict[str, str], stopped: str) -> None:
    """And those behind it were not asked."""
    verdict = only(checked(output, foo=rule_text(condition="a", **rule)))
    assert not verdict.triggered
    assert says(verdict)[-1] == stopped
    assert verdict.stopped_by == verdict.gates[-1]


def test_gates_that_were_passed_say_by_what() -> None:
    """The token, the glob, the pattern and the place where it matched."""
    rule = rule_text(condition=["z", r"b\w"], scope="text, tool:edit(*.ts)", globs="src/**")
    verdict = only(checked(Output("a\nxbar", TOOL, "edit", "src/x.ts"), foo=rule))
    assert says(verdict) == [
        "in force: as a trigger, interruptMode always",
        "scope: `tool:edit(*.ts)` admits tool:edit on src/x.ts",
        "globs: `src/**` matches src/x.ts",
        r"trigger: condition `b\w` at line 2, column 2: ba",
        "repeat policy: once: in a new conversation nothing was delivered, so the rule may act",
    ]
    assert verdict.stopped_by is None
    assert verdict.deed == "interrupt"


def test_every_condition_that_holds_is_told() -> None:
    """The rule hits once, but its author wants to know all of it."""
    verdict = only(checked(Output("ab", TEXT), foo=rule_text(condition=["b", "a", "c"])))
    assert [(match.source, match.start) for match in verdict.matches] == [("b", 1), ("a", 0)]


@pytest.mark.parametrize(
    ("text", "condition", "settings", "held"),
    [
        ("all is well", "FORB", {}, Held(11, 0, "nothing is pending")),
        ("say FO", "FORB", {}, Held(4, 2, "a match could still begin there")),
        ("say FORB now", "FORB", {}, Held(4, 4, CUT)),
        ("say FO", "FORB", {"release": "whole"}, Held(0, 6, WHOLE)),
    ],
)
def test_held_is_what_the_client_would_not_have(
    text: str, condition: str, settings: dict[str, str], held: Held
) -> None:
    """With the turn's own hold position."""
    rule = rule_text(condition=condition, scope="text")
    assert only(checked(Output(text, TEXT), ground(**settings), foo=rule)).held == held


def test_rule_that_never_interrupts_holds_nothing() -> None:
    """Neither prose nor calls."""
    rule = rule_text(condition="a", interruptMode="never")
    assert only(checked(Output("a", TEXT), foo=rule)).held is None
    assert only(checked(Output("a", TOOL, "edit", "x"), foo=rule)).held is None


def test_call_is_held_whole() -> None:
    """Clean or not, until its message is over."""
    held = only(checked(Output("b", TOOL, "edit", "x"), foo=rule_text(condition="a"))).held
    assert held == Held(None, 1, "the whole call waits for the end of its message")


def test_rule_that_is_off_is_not_evaluated() -> None:
    """Its gate says the reason, with what is wrong in its file."""
    report = checked(Output("a", TEXT), foo=rule_text(condition="a("))
    verdict = only(report)
    assert not verdict.evaluated
    assert "error[bad-pattern]" in verdict.gates[0].says
    off = checked(Output("a", TEXT), None, RuleSetOptions(disabled_rules=("foo",)),
                  foo=rule_text(condition="a"))  # fmt: skip
    assert only(off).gates[0].says.startswith("disabled: it is switched off")
    assert not only(off).evaluated


def test_rules_without_a_trigger_are_no_matter_here() -> None:
    """They never watch an output."""
    assert checked(Output("a", TEXT), foo=rule_text(alwaysApply=True)).verdicts == ()


def test_rule_that_takes_too_long_is_told() -> None:
    """It is set aside, so whether it is broken is not known."""
    rule = rule_text(condition="(?:x+x+)+y", scope="text")
    report = checked(Output("y" + "x" * 4000, TEXT), foo=rule)
    assert report.quarantined == ("foo",)
    assert "too large or too slow to search" in only(report).gates[-1].says


def test_question_is_never_decided_here() -> None:
    """Whatever its pattern finds: that only chooses what the judge is asked about."""
    report = checked(Output("a", TEXT), foo=rule_text(condition="a", question="Is it a?"))
    verdict = only(report)
    assert (verdict.evaluated, verdict.triggered) == (True, False)
    assert says(verdict)[-1] == "trigger: the judge decides, and it is not asked here: Is it a?"
