from __future__ import annotations

import os
from pathlib import Path

import pytest

from proxy.config import Settings
from proxy.errors import CannotRun
from proxy.scan import FileReport, ScanOptions, ScanReport, fields, scan
from proxy.trial import Ground
from rules_engine.ruleset import RuleSet
from tests.support.rules import rule_text, ruleset

FOO = ruleset(foo=rule_text("No.", condition="foo"))


def scanned(
    directory: Path, rules: RuleSet = FOO, *, workspace: Path | None = None, max_bytes: int = 0
) -> ScanReport:
    ground = Ground.of(Settings.model_validate({"workspace": str(workspace or directory)}))
    steps: list[tuple[int, int]] = []
    options = ScanOptions(directory, max_bytes=max_bytes)
    report = scan(rules, ground, options, lambda *step: steps.append(step))
    assert steps == [(n, len(report.files)) for n in range(1, len(report.files) + 1)]
    return report


def only(report: ScanReport) -> FileReport:
    (file,) = report.files
    return file


def test_place_of_a_violation(tmp_path: Path) -> None:
    """The first one of each rule, in order; line ends of Windows count as they stand."""
    (tmp_path / "a.ts").write_bytes("é\r\n  foo\nfoo".encode())
    (violation,) = only(scanned(tmp_path)).violations
    assert (violation.line, violation.column) == (2, 3)
    assert (violation.end_line, violation.end_column) == (2, 6)
    assert (violation.start, violation.end, violation.text) == (5, 8, "foo")


@pytest.mark.parametrize("scope", ["tool", "tool:edit", "tool:write", "edit(*.ts)", "text, write"])
def test_file_counts_as_edited_and_as_written(tmp_path: Path, scope: str) -> None:
    """A rule that watches either tool is tried, and hits once."""
    (tmp_path / "a.ts").write_text("foo")
    rules = ruleset(foo=rule_text("No.", condition="foo", scope=scope))
    (violation,) = only(scanned(tmp_path, rules)).violations
    assert violation.interrupts


def test_rules_of_both_tools_are_tried_together(tmp_path: Path) -> None:
    """Each with the one that it watches."""
    (tmp_path / "a.ts").write_text("bar foo")
    rules = ruleset(
        e=rule_text("No.", condition="foo", scope="tool:edit", interruptMode="never"),
        w=rule_text("No.", condition="bar", scope="tool:write"),
    )
    found = only(scanned(tmp_path, rules)).violations
    assert [(each.rule.name, each.tool, each.interrupts) for each in found] == [
        ("w", "write", True),
        ("e", "edit", False),
    ]


@pytest.mark.parametrize("glob", ["a.ts", "src/*.ts", "{root}/src/a.ts"])
def test_globs_see_every_form_of_the_path(tmp_path: Path, glob: str) -> None:
    """The base name, the path in the workspace, the absolute one."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.ts").write_text("foo")
    rules = ruleset(foo=rule_text("No.", condition="foo", globs=glob.format(root=tmp_path)))
    report = scanned(tmp_path / "src", rules, workspace=tmp_path)
    assert only(report).path == "src/a.ts"
    assert len(only(report).violations) == 1


def test_directory_outside_the_workspace_keeps_its_paths(tmp_path: Path) -> None:
    """Absolute, as nothing else names them."""
    (tmp_path / "work").mkdir()
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "a.ts").write_text("foo")
    report = scanned(tmp_path / "else", workspace=tmp_path / "work")
    assert only(report).path == str(tmp_path / "else" / "a.ts")


def test_name_that_is_no_text_can_be_shown(tmp_path: Path) -> None:
    """It is tried as any other."""
    (tmp_path / os.fsdecode(b"\xff.ts")).write_text("foo")
    file = only(scanned(tmp_path))
    assert (file.path, len(file.violations)) == ("\ufffd.ts", 1)


@pytest.mark.parametrize(
    ("content", "limit", "skipped"),
    [
        (b"foo\0", 0, "binary"),
        (b"x" * 8192 + b"\0 foo", 0, None),
        (b"foo 789", 6, "large"),
        (b"foo 789", 7, None),
        (b"", 0, None),
        (b"\xff\xfe foo", 0, None),
    ],
)
def test_file_that_is_no_text_is_skipped(
    tmp_path: Path, content: bytes, limit: int, skipped: str | None
) -> None:
    """A NUL in the first 8,192 bytes, or more bytes than allowed; 0 allows any number."""
    (tmp_path / "a.ts").write_bytes(content)
    report = scanned(tmp_path, max_bytes=limit)
    assert only(report).skipped == skipped
    assert fields(report)["summary"]["skippedFiles"] == (skipped is not None)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_unreadable_file_is_skipped(tmp_path: Path) -> None:
    """It is counted as such."""
    (tmp_path / "a.ts").write_text("foo")
    (tmp_path / "a.ts").chmod(0)
    assert only(scanned(tmp_path)).skipped == "unreadable"


def test_file_that_no_rule_watches_is_not_read(tmp_path: Path) -> None:
    """It is counted as such, even if it could not be read."""
    (tmp_path / "a.py").write_bytes(b"\0")
    rules = ruleset(foo=rule_text("No.", condition="foo", globs="*.ts"))
    assert only(scanned(tmp_path, rules)).skipped == "noRelevantRules"


def test_structures_are_searched(tmp_path: Path) -> None:
    """As in any finished call."""
    (tmp_path / "a.js").write_text("\nf(eval(x))\n")
    rules = ruleset(foo=rule_text("No.", astCondition="eval($A)"))
    (violation,) = only(scanned(tmp_path, rules)).violations
    assert (violation.line, violation.column, violation.text) == (2, 3, "eval(x)")


def test_question_rules_are_left_out(tmp_path: Path) -> None:
    """A pattern beside a question only chooses what is asked about."""
    (tmp_path / "a.ts").write_text("foo")
    rules = ruleset(q=rule_text("No.", condition="foo", question="Is it foo?"))
    with pytest.raises(CannotRun, match="no rule in force watches files"):
        scanned(tmp_path, rules)


def test_rule_that_takes_too_long_is_told(tmp_path: Path) -> None:
    """The file is not clean by that rule: it was not decided."""
    (tmp_path / "a.ts").write_text("y" + "x" * 4000)
    report = scanned(tmp_path, ruleset(slow=rule_text("No.", condition="(?:x+x+)+y")))
    assert report.quarantined == (("a.ts", "slow"),)
    assert fields(report)["quarantined"] == [{"path": "a.ts", "rule": "slow"}]


def test_what_is_no_directory_cannot_be_scanned(tmp_path: Path) -> None:
    """Nor can a file."""
    (tmp_path / "a.ts").write_text("foo")
    for path in (tmp_path / "a.ts", tmp_path / "missing"):
        with pytest.raises(CannotRun, match="is no directory"):
            scanned(path, workspace=tmp_path)
