from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proxy.sarif import github, message, sarif
from proxy.scan import FileReport, ScanOptions, ScanReport, Violation
from rules_engine.rule import Rule

RULE = Rule("no-foo", ".omp/rules/no-foo.md", "native", "Say it kindly.\nAlways.", "No foo: never")
BARE = Rule("bare", ".omp/rules/bare.md", "native", "Say it kindly.\nAlways.")


def violation(rule: Rule = RULE, *, interrupts: bool = True) -> Violation:
    return Violation(rule, interrupts, "edit", 10, 13, 2, 3, 2, 6, "foo")


def report(path: str = "src/a b,c.ts", *violations: Violation) -> ScanReport:
    file = FileReport(path, violations or (violation(),))
    return ScanReport((FileReport("clean.ts"), file), (BARE, RULE), ScanOptions(Path("/work")))


def result(of: ScanReport) -> Any:
    (run,) = sarif(of)["runs"]
    (only,) = run["results"]
    return only


def test_sarif_has_one_run_with_every_rule() -> None:
    """Results point into the list of rules, by number and by name."""
    document = sarif(report())
    assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
    rules = document["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["bare", "no-foo"]
    assert rules[0]["shortDescription"] == {"text": "bare"}
    assert rules[1]["help"]["text"] == RULE.body
    found = result(report())
    assert rules[found["ruleIndex"]]["id"] == found["ruleId"] == "no-foo"


def test_sarif_tells_the_place() -> None:
    """Lines and columns from 1, the end behind the last character, addresses escaped."""
    place = result(report())["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/a%20b%2Cc.ts", "uriBaseId": "%SRCROOT%"}
    region = place["region"]
    assert (region["startLine"], region["startColumn"]) == (2, 3)
    assert (region["endLine"], region["endColumn"]) == (2, 6)
    assert (region["charOffset"], region["charLength"]) == (10, 3)


def test_sarif_names_files_elsewhere_in_full() -> None:
    """They have no place below the sources' root."""
    place = result(report("/else/a.ts"))["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "file:///else/a.ts"}


@pytest.mark.parametrize(("interrupts", "level"), [(True, "error"), (False, "warning")])
def test_level_follows_the_interrupt_mode(*, interrupts: bool, level: str) -> None:
    """What would have stopped a model is an error."""
    of = report("a.ts", violation(interrupts=interrupts))
    assert result(of)["level"] == level
    assert next(github(of)).startswith(f"::{level} file=a.ts,")


def test_github_escapes_its_own_marks() -> None:
    """Commas and colons in properties, line ends and percent signs everywhere."""
    (line,) = github(report("a,b:c%.ts"))
    assert line == (
        "::error file=a%2Cb%3Ac%25.ts,line=2,endLine=2,col=3,endColumn=6,"
        "title=ttsr no-foo::no-foo: No foo: never"
    )


def test_message_is_one_line() -> None:
    """The description; without one the first line of the text."""
    assert message(violation()) == "no-foo: No foo: never"
    assert message(violation(BARE)) == "bare: Say it kindly."
