from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Project
from tests.support.rules import rule_text

WORDS = rule_text("Say it kindly.", condition="FORBIDDEN", scope="text")
NO_ANY = rule_text("Use unknown.", description="No any", condition=r":\s?any\b", globs="*.ts")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.at(tmp_path)
    made.rules(words=WORDS, any=NO_ANY)
    return made


def tried(project: Project, *arguments: str | Path, stdin: str = "") -> Any:
    return project.run("test", *arguments, "--json", stdin=stdin).json


# ---- test


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["all is well"], 0),
        (["this is FORBIDDEN"], 1),
        (["this is FORBIDDEN", "--surface", "thinking"], 0),
        (["let x: any", "--path", "a.ts"], 1),
        (["let x: any", "--path", "a.py"], 0),
        (["--file", "missing.ts"], 2),
        ([], 2),
    ],
)
def test_status_tells_whether_a_rule_is_broken(
    project: Project, arguments: list[str], status: int
) -> None:
    """0: none is; 1: one is; 2: nothing could be tried. With JSON too."""
    ran = project.run("test", *arguments)
    assert ran.status == status
    assert bool(ran.err) is (status == 2)
    ran = project.run("test", *arguments, "--json")
    assert ran.status == status
    assert ("error" in ran.json) is (status == 2)


@pytest.mark.case(169)
def test_surface_is_inferred_from_the_extension(project: Project) -> None:
    """A path of source means an edit, and the report says that this was inferred."""
    report = tried(project, "let x: any", "--path", "src/a.ts")
    assert (report["surface"], report["tool"]) == ("tool", "edit")
    assert report["inferred"] == "since .ts is an extension of source"
    out = project.run("test", "let x: any", "--path", "src/a.ts").out
    assert out.startswith("tool edit on src/a.ts (inferred, since .ts")
    assert tried(project, "x", "--surface", "tool", "--path", "a.ts")["inferred"] is None


def test_file_of_an_unknown_extension_is_text(project: Project) -> None:
    """It is tried all the same."""
    project.write({"notes.xyz": "this is FORBIDDEN"})
    report = tried(project, "--file", project.root / "notes.xyz")
    assert (report["surface"], report["triggered"]) == ("text", ["words"])


def test_argument_that_names_a_file_is_that_file(project: Project) -> None:
    """Its path is what the call would change, relative to the workspace."""
    project.write({"src/a.ts": "let x: any = 1"})
    report = tried(project, project.root / "src" / "a.ts")
    assert (report["path"], report["triggered"]) == ("src/a.ts", ["any"])


@pytest.mark.parametrize("arguments", [["-"], ["--file", "-"], []])
def test_text_may_come_from_stdin(project: Project, arguments: list[str]) -> None:
    """Asked for, or because nothing else is given."""
    assert tried(project, *arguments, stdin="so FORBIDDEN")["triggered"] == ["words"]


def test_nobody_is_made_to_wait_for_a_terminal(project: Project) -> None:
    """Without a snippet and with nothing piped in, the command says what to give."""
    ours, theirs = pty.openpty()
    ran = subprocess.run(
        [sys.executable, "-c", "from proxy.cli import main; main()", "test"],
        cwd=project.root,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home), "PYTHONPATH": str(Path.cwd())},
        stdin=theirs, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "there is no snippet" in ran.stderr


def test_report_names_what_was_tried(project: Project) -> None:
    """Evaluated are all rules with a trigger in force; each is in one of the two lists."""
    report = tried(project, "this is FORBIDDEN")
    assert sorted(report["evaluated"]) == ["any", "words"]
    assert (report["triggered"], report["not_triggered"]) == (["words"], ["any"])
    assert (report["agent"], report["bytes"]) == ("main", 17)
    assert report["snippet"] == "this is FORBIDDEN"


def test_report_explains_each_gate(project: Project) -> None:
    """What passed, what stopped; gates behind the closed one were not asked."""
    rules = {rule["name"]: rule for rule in tried(project, "let x: any", "-p", "b.ts")["rules"]}
    assert [(gate["gate"], gate["passed"]) for gate in rules["any"]["gates"]] == [
        ("in force", True),
        ("scope", True),
        ("globs", True),
        ("trigger", True),
        ("repeat policy", True),
    ]
    assert [gate["passed"] for gate in rules["words"]["gates"]] == [True, False]
    assert rules["words"]["stopped_by"] == "scope"
    assert rules["words"]["gates"][1]["says"] == "none of `text` admits tool:edit on b.ts"
    (match,) = rules["any"]["matches"]
    assert (match["field"], match["line"], match["column"]) == ("condition", 1, 6)
    assert match["text"] == ": any"


def test_text_report_is_for_people(project: Project) -> None:
    """The rule, its gates, where it matched and what is held; others in a line each."""
    out = project.run("test", "ok\nthis is FORBIDDEN, no?").out
    assert "2 evaluated, 1 triggered, 1 not\n" in out
    assert "✗ words (.omp/rules/words.md): interrupt\n" in out
    assert "passed trigger: condition `FORBIDDEN` at line 2, column 9: FORBIDDEN\n" in out
    assert "held: 9 characters behind the first 11; the output is cut after 20 characters" in out
    assert "held: 9 characters; " in project.run("test", "FORBIDDEN, no?").out
    assert "· any (.omp/rules/any.md): stopped at scope: none of" not in out
    assert "stopped at globs: none of `*.ts` matches, since text has no path here" in out


def test_rule_that_is_off_is_explained(project: Project) -> None:
    """With what is wrong in its file, so that its author sees why it does nothing."""
    project.rules(bad=rule_text("No.", condition="foo("))
    out = project.run("test", "foo(").out
    assert "· bad (.omp/rules/bad.md): stopped at in force: invalid" in out
    assert ".omp/rules/bad.md:2: error[bad-pattern]" in out


def test_rules_for_another_agent_do_not_act(project: Project) -> None:
    """The role is a gate like any other."""
    project.rules(words=rule_text("No.", condition="FORBIDDEN", agents="sub"))
    report = tried(project, "FORBIDDEN")
    (words,) = (rule for rule in report["rules"] if rule["name"] == "words")
    assert (report["triggered"], words["stopped_by"]) == ([], "in force")
    assert tried(project, "FORBIDDEN", "--agent", "sub")["triggered"] == ["words"]


@pytest.mark.case(172)
def test_question_is_shown_and_never_asked(project: Project) -> None:
    """A rule for the judge is listed with its question and does not trigger."""
    project.rules(tone=rule_text("Be kind.", question="Is it rude?"))
    report = tried(project, "you fool")
    (tone,) = (rule for rule in report["rules"] if rule["name"] == "tone")
    assert "tone" in report["not_triggered"]
    assert (tone["triggered"], tone["question"]) == (False, "Is it rude?")


def test_structure_is_found_in_the_source_of_a_call(project: Project) -> None:
    """On a path whose language is known; elsewhere it is said to be skipped."""
    project.rules(log=rule_text("No logs.", astCondition="console.log($A)", scope="tool"))
    report = tried(project, "if (x) { console.log(x) }", "-p", "a.js")
    assert report["triggered"] == ["log"]
    (log,) = (rule for rule in report["rules"] if rule["name"] == "log")
    assert log["action"] == "refusal"
    assert log["matches"][0]["text"] == "console.log(x)"
    out = project.run("test", "console.log(x)", "--tool", "edit", "-p", "a.xyz").out
    assert "astCondition skipped" in out


# ---- test --rule


@pytest.mark.case(170)
def test_isolated_rule_is_tried_though_it_is_switched_off(project: Project) -> None:
    """Whatever its file's `enabled` and the settings say; no other rule is tried."""
    project.rules(off=rule_text("No.", condition="foo", enabled=False))
    rule = project.root / ".omp" / "rules" / "off.md"
    assert tried(project, "foo FORBIDDEN")["triggered"] == ["words"]
    report = tried(project, "foo FORBIDDEN", "--rule", rule)
    assert (report["evaluated"], report["triggered"]) == (["off"], ["off"])


@pytest.mark.case(171)
def test_isolated_rule_that_does_not_trigger_is_no_violation(project: Project) -> None:
    """Status 0 here: as everywhere, 1 stands for a violation, and 2 for what could not be run."""
    rule = project.root / ".omp" / "rules" / "words.md"
    assert project.run("test", "fine", "-r", rule).status == 0
    assert project.run("test", "FORBIDDEN", "-r", rule).status == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read: No such file"),
        (rule_text("No.", condition="foo("), "bad.md:2: error[bad-pattern]"),
        ("Just text.", "holds no trigger that could hit"),
        ("---\ncondition: foo\n---\n", "error[empty-body]"),
        (rule_text("No.", condition="foo", agents="sub"), "not for the agent main, but for: sub"),
    ],
)
def test_isolated_rule_that_cannot_hit_is_an_error(
    project: Project, text: str | None, sentence: str
) -> None:
    """Status 2, and the file's own problems."""
    if text is not None:
        project.write({"bad.md": text})
    ran = project.run("test", "foo", "--rule", project.root / "bad.md")
    assert ran.status == 2
    assert sentence in ran.err


# ---- scan


@pytest.fixture
def sources(project: Project) -> Project:
    project.write(
        {
            "src/a.ts": "const a = 1;\nlet b: any;\n",
            "src/b.ts": "const a = 1;\n",
            "src/.hidden.ts": "let c: any;\n",
            "src/c.py": "FORBIDDEN: any\n",
            "logo.ts": b"\x89PNG\0: any",
        }
    )
    return project


@pytest.mark.case(173)
def test_scan_status_tells_of_violations(sources: Project) -> None:
    """1 where there are any, unless that is not to fail; 2 where there is nothing to scan."""
    assert sources.run("scan", sources.root).status == 1
    assert sources.run("scan", sources.root, "--exit-zero").status == 0
    (sources.root / "src" / "a.ts").unlink()
    (sources.root / "src" / ".hidden.ts").unlink()
    assert sources.run("scan", sources.root).status == 0
    ran = sources.run("scan", sources.root / "missing", "--json")
    assert (ran.status, set(ran.json)) == (2, {"error"})


@pytest.mark.case(174)
def test_scan_leaves_out_what_cannot_be_tried(sources: Project) -> None:
    """A rule for text alone is never evaluated; binary and large files are counted as skipped."""
    summary = sources.run("scan", sources.root, "--max-bytes", "20", "--json").json["summary"]
    assert summary["evaluatedRules"] == 1
    assert summary["skipped"] == {"binary": 1, "large": 1, "unreadable": 0, "noRelevantRules": 3}
    assert (summary["totalFiles"], summary["scannedFiles"], summary["skippedFiles"]) == (7, 2, 5)


def test_scan_without_a_rule_for_files_could_not_run(tmp_path: Path) -> None:
    """Nothing found by nobody looking must not pass for clean."""
    project = Project.at(tmp_path)
    project.rules(words=WORDS)
    ran = project.run("scan", project.root)
    assert (ran.status, ran.out) == (2, "")
    assert "no rule in force watches files" in ran.err


def test_scan_reports_each_file_and_a_summary(sources: Project) -> None:
    """Files with violations, sorted; hidden ones among them."""
    report = sources.run("scan", sources.root, "--json").json
    assert [file["path"] for file in report["files"]] == ["src/.hidden.ts", "src/a.ts"]
    (match,) = report["files"][1]["matches"]
    assert (match["rule"], match["line"], match["column"], match["text"]) == ("any", 2, 6, ": any")
    assert report["summary"] == {
        "totalFiles": 7,
        "scannedFiles": 3,
        "matchedFiles": 2,
        "totalMatches": 2,
        "evaluatedRules": 1,
        "skippedFiles": 4,
        "skipped": {"binary": 1, "large": 0, "unreadable": 0, "noRelevantRules": 3},
        "gitignore": True,
        "maxBytes": 5 * 2**20,
    }


def test_scan_for_people_is_a_line_a_violation(sources: Project) -> None:
    """Place, rule, what it is about; the last line sums up."""
    out = sources.run("scan", sources.root, "--verbose").out
    assert "src/a.ts:2:6: any: No any  : any\n" in out
    assert "logo.ts: skipped, binary\n" in out
    assert out.endswith(
        "2 violations in 2 of 7 files, 1 rule, 4 files skipped "
        "(1 binary, 3 without a rule for such files)\n"
    )


def test_scan_honours_gitignore(sources: Project) -> None:
    """Unless told otherwise."""
    sources.write({".gitignore": "a.ts\n"})
    assert "a.ts" not in sources.run("scan", sources.root).out
    assert "src/a.ts" in sources.run("scan", sources.root, "--no-gitignore").out


def test_scan_warns_of_rules_that_are_broken(sources: Project) -> None:
    """A clean result may be owed to them."""
    sources.rules(bad=rule_text("No.", condition="foo("))
    assert "1 error in rule files" in sources.run("scan", sources.root).err


@pytest.mark.parametrize("written", ["many", "-1", "5 apples"])
def test_scan_refuses_a_size_that_is_none(sources: Project, written: str) -> None:
    """And names the flag."""
    ran = sources.run("scan", sources.root, f"--max-bytes={written}")
    assert ran.status == 2
    assert "--max-bytes" in ran.err


def test_scan_writes_sarif_and_annotations(sources: Project) -> None:
    """For code hosts; the status is the same."""
    ran = sources.run("scan", sources.root, "--format", "sarif")
    assert (ran.status, ran.json["version"]) == (1, "2.1.0")
    ran = sources.run("scan", sources.root, "--format", "github")
    assert ran.out.split("\n")[1] == (
        "::error file=src/a.ts,line=2,endLine=2,col=6,endColumn=11,title=ttsr any::any: No any"
    )
