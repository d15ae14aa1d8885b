"""A scan's report in the forms that code hosts read: SARIF 2.1.0 and GitHub's annotations."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from proxy.masking import single_line
from proxy.scan import ScanReport, Violation
from rules_engine.rule import Rule

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LONGEST = 200


def sarif(report: ScanReport) -> dict[str, Any]:
    """One run, with every rule that was tried and every violation that was found."""
    numbers = {rule: number for number, rule in enumerate(report.rules)}
    driver = {
        "name": "ttsr",
        "version": version("ttsr-proxy"),
        "rules": [_rule(rule) for rule in report.rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(file.path, violation, numbers)
            for file in report.matched
            for violation in file.violations
        ],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def github(report: ScanReport) -> Iterator[str]:
    """One workflow command a violation: an annotation at its line."""
    for file in report.matched:
        for each in file.violations:
            fields = {
                "file": file.path,
                "line": each.line,
                "endLine": each.end_line,
                "col": each.column,
                "endColumn": each.end_column,
                "title": f"ttsr {each.rule.name}",
            }
            words = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items())
            yield f"::{_level(each)} {words}::{_data(message(each))}"


def message(violation: Violation) -> str:
    """What is wrong there, in one line: what the rule is about, else its first words."""
    rule = violation.rule
    said = rule.description or rule.body.strip().partition("\n")[0]
    return f"{rule.name}: {single_line(said.strip()[:_LONGEST])}"


def _level(violation: Violation) -> str:
    return "error" if violation.interrupts else "warning"


def _rule(rule: Rule) -> dict[str, Any]:
    text = rule.body.strip()
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.description or rule.name},
        "fullDescription": {"text": text},
        "help": {"text": text, "markdown": text},
        "properties": {"path": rule.path, "convention": rule.convention},
    }


def _result(path: str, violation: Violation, numbers: Mapping[Rule, int]) -> dict[str, Any]:
    region = {
        "startLine": violation.line,
        "startColumn": violation.column,
        "endLine": violation.end_line,
        "endColumn": violation.end_column,
        "charOffset": violation.start,
        "charLength": violation.end - violation.start,
        "snippet": {"text": violation.text[:_LONGEST]},
    }
    location = {"artifactLocation": _artifact(path), "region": region}
    return {
        "ruleId": violation.rule.name,
        "ruleIndex": numbers[violation.rule],
        "level": _level(violation),
        "message": {"text": message(violation)},
        "locations": [{"physicalLocation": location}],
    }


def _artifact(path: str) -> dict[str, str]:
    """Files of the workspace relative to the sources' root, others by their whole address."""
    if posixpath.isabs(path):
        return {"uri": f"file://{quote(path)}"}
    return {"uri": quote(path), "uriBaseId": "%SRCROOT%"}


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
