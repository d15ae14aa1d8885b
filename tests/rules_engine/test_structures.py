from __future__ import annotations

import json
import pickle

import pytest

from rules_engine.ruleset import LiveRule
from rules_engine.structures import StructureHit, structure_checks, structure_hits
from rules_engine.tools import Section
from rules_engine.triggers.structure import LARGEST
from tests.support.rules import FAMILIES, rule_text, ruleset
from tests.support.tool_calls import read_call

SCOPE = ["tool:edit(*.ts)", "tool:write(*.ts)"]
CALL = rule_text(astCondition="f($A)", scope=SCOPE)


def live(**rules: str) -> tuple[LiveRule, ...]:
    return ruleset(**rules).live


def sections(tool: str, **arguments: object) -> tuple[Section, ...]:
    return read_call(tool, json.dumps(arguments), families=FAMILIES).sections


def hits(rules: tuple[LiveRule, ...], tool: str, **arguments: object) -> list[str]:
    return [hit.rule for hit in structure_hits(rules, sections(tool, **arguments))]


@pytest.mark.case(101)
def test_structure_hits_what_a_finished_call_adds() -> None:
    """A write of a matching file with the construct is a hit, of another file it is none."""
    rules = live(call=CALL)
    assert hits(rules, "write", path="src/a.ts", content="g(); f(1);") == ["call"]
    assert hits(rules, "write", path="src/a.md", content="g(); f(1);") == []
    assert hits(rules, "write", path="src/a.ts", content="g(); // f(1);") == []
    assert hits(rules, "edit", path="src/a.ts", old="f(1)", new="g()") == []
    assert hits(rules, "bash", command="f(1)", path="a.ts") == []


def test_structure_hit_tells_rule_section_and_span() -> None:
    """The earliest match of the rule's structures is told, once."""
    rules = live(two=rule_text(astCondition=["f($A)", "g($A)"], scope=SCOPE))
    found = sections("write", path="a.ts", content="g(1); f(2); g(3);")
    assert structure_hits(rules, found) == (StructureHit("two", found[0].key, 0, 4),)


def test_each_edit_is_a_text_of_its_own() -> None:
    """What only two edits together would form is no construct."""
    rules = live(loop=rule_text(astCondition="while ($A) { f() }", scope=SCOPE))
    halves = [{"old": "a", "new": "while (x) {"}, {"old": "b", "new": "f() }"}]
    whole = [{"old": "a", "new": "1"}, {"old": "b", "new": "while (x) { f() }"}]
    assert hits(rules, "edits", path="a.ts", edits=halves) == []
    assert hits(rules, "edits", path="a.ts", edits=whole) == ["loop"]


def test_sections_are_checked_for_the_rules_that_watch_them() -> None:
    """One check a section; rules without structures and of other files are not in it."""
    rules = live(
        call=CALL,
        text=rule_text(condition="f", scope=SCOPE),
        every=rule_text(astCondition="f($A)"),
        go=rule_text(astCondition="f($A)", globs="*.go"),
    )
    (check,) = structure_checks(rules, sections("write", path="a.ts", content="f(1)"))
    assert [rule for rule, _ in check.wanted] == ["call", "every"]
    assert check.language == "typescript"
    assert [hit.rule for hit in check.run()] == ["call", "every"]


@pytest.mark.parametrize("path", ["Makefile", "a.unknown", ""])
def test_no_known_language_is_no_check(path: str) -> None:
    """Without it nothing can be parsed."""
    rules = live(every=rule_text(astCondition="f($A)"))
    assert structure_checks(rules, sections("write", path=path, content="f(1)")) == ()


def test_no_structures_are_no_check() -> None:
    """Nothing is parsed for rules that only have patterns, or for nothing that is added."""
    assert structure_checks(live(), sections("write", path="a.ts", content="f(1)")) == ()
    text = live(text=rule_text(condition="f"))
    assert structure_checks(text, sections("write", path="a.ts", content="f(1)")) == ()
    assert structure_checks(live(call=CALL), sections("write", path="a.ts", content="")) == ()


def test_globs_are_relative_to_the_workspace() -> None:
    """An absolute path inside it is matched as a relative one too."""
    rules = live(call=rule_text(astCondition="f($A)", globs="src/*.ts"))
    found = sections("write", path="/home/me/app/src/a.ts", content="f(1)")
    assert structure_checks(rules, found) == ()
    assert len(structure_checks(rules, found, "/home/me/app")) == 1


def test_a_section_that_is_too_large_stays_unchecked() -> None:
    """It says so, and is passed over where all is checked here and now."""
    rules = live(call=CALL)
    found = sections("write", path="a.ts", content="f(1);" + " " * LARGEST)
    (check,) = structure_checks(rules, found)
    assert check.too_large
    assert structure_hits(rules, found) == ()


@pytest.mark.case(105)
def test_either_kind_of_trigger_is_enough() -> None:
    """A rule with a pattern and a structure is in force with both."""
    (both,) = live(both=rule_text(condition="zzz", astCondition="f($A)"))
    assert len(both.patterns) == len(both.structures) == 1
    assert hits((both,), "write", path="a.ts", content="f(1)") == ["both"]
    assert both.patterns[0].final("zzz", 0)


@pytest.mark.case(102)
def test_a_broken_structure_leaves_the_other_in_force() -> None:
    """Two were written, one of them broken: the other hits."""
    rules = live(call=rule_text(astCondition=["f($A", "f($A)"], scope=SCOPE))
    assert hits(rules, "write", path="a.ts", content="f(1)") == ["call"]


@pytest.mark.case(104)
def test_structures_of_every_shipped_language_are_in_force() -> None:
    """Go's are, as TypeScript's are."""
    rules = live(loop=rule_text(astCondition="for $I := 0; $I < $N; $I++ { $$$ }"))
    assert hits(rules, "write", path="a.go", content="for i := 0; i < 3; i++ { f(i) }") == ["loop"]


def test_a_check_can_be_sent_to_another_process() -> None:
    """Its answer is the same there."""
    (check,) = structure_checks(live(call=CALL), sections("write", path="a.ts", content="f(1)"))
    sent = pickle.loads(pickle.dumps(check))  # noqa: S301 - our own bytes
    assert sent.run() == check.run() != ()
