from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import Project
from tests.support.rules import rule_text

ROOT = Path(__file__).parents[3]
NEW = ("new", "foo", "--body", "Say it kindly.", "--condition", r"\bfoo\b")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.at(tmp_path)


def test_new_writes_a_rule_that_is_in_force(project: Project) -> None:
    """Every flag ends up in the file, and the file has no problem."""
    flags = ["--description", "No foo", "--scope", "tool:edit(*.ts)", "--scope", "text",
             "--ast-condition", "foo($A)", "--interrupt-mode", "never"]  # fmt: skip
    ran = project.run(*NEW, *flags)
    assert ran.status == 0
    path = project.root / ".dsh" / "rules" / "foo.md"
    assert ran.out == f"{path} is written; a running proxy takes it from the next turn on.\n"
    entry = project.run("show", "foo", "--json").json
    assert (entry["state"], entry["interruptMode"], entry["problems"]) == ("in-force", "never", [])
    assert entry["scope"] == ["tool:edit(*.ts)", "text"]
    assert entry["astCondition"] == ["foo($A)"]


def test_new_goes_where_rules_are(project: Project) -> None:
    """Or where it is told to."""
    project.rules(other="Just text.")
    assert project.run(*NEW, "--json").json["path"].endswith("project/.omp/rules/foo.md")
    ran = project.run("new", "bar", "--body", "x", "--always-apply", "--convention", "dsh",
                      "--user", "--json")  # fmt: skip
    assert ran.json["path"] == str(project.home / ".dsh" / "rules" / "bar.md")


@pytest.mark.case(75)
@pytest.mark.parametrize("name", ["../x", "a/b", ".x", "a:b"])
def test_new_refuses_a_name_that_is_a_path(project: Project, name: str) -> None:
    """And writes nothing."""
    ran = project.run("new", name, "--body", "x", "--condition", "a")
    assert (ran.status, ran.out) == (2, "")
    assert list(project.root.iterdir()) == []


@pytest.mark.case(76)
@pytest.mark.case(77)
def test_new_overwrites_nothing(project: Project) -> None:
    """A name of any convention is taken; so is a file that discovery does not take for a rule."""
    project.write({".cursor/rules/foo.mdc": rule_text("x", condition="a")})
    assert "in .cursor/rules/foo.mdc; edit that file instead" in project.run(*NEW).err
    project.write({".dsh/rules/bar.md": ""})
    ran = project.run("new", "bar", "--body", "x", "--condition", "a", "--json")
    assert (ran.status, set(ran.json)) == (2, {"error"})


def test_new_does_not_write_what_would_not_work(project: Project) -> None:
    """The message is lint's."""
    ran = project.run("new", "foo", "--body", "x", "--condition", "a(")
    assert ran.status == 2
    assert "foo.md:3: error[bad-pattern]" in ran.err.replace("foo.md:2", "foo.md:3")
    assert list(project.root.iterdir()) == []


def test_new_asks_nobody_where_nobody_can_answer(project: Project) -> None:
    """It says what is missing."""
    assert "has no name" in project.run("new").err
    assert "has no text" in project.run("new", "foo").err


def test_new_asks_in_a_terminal(project: Project) -> None:
    """Again where an answer cannot be used; what comes out is a valid file."""
    ours, theirs = pty.openpty()
    code = "import sys; sys.argv[0] = 'ttsr'; from proxy.cli import main; main()"
    env = {"PATH": os.environ["PATH"], "HOME": str(project.home), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code, "new"], cwd=project.root, env=env,
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        os.write(ours, b"a/b\nfoo\nx(\nfoo\\(\nNo foo\nSay it kindly.\n")
        out, err = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0, err
    assert "is a path" in err
    assert "error[bad-pattern]" in err
    assert "is written" in out
    text = (project.root / ".dsh" / "rules" / "foo.md").read_text()
    assert text == "---\ndescription: 'No foo'\ncondition:\n  - 'foo\\('\n---\n\nSay it kindly.\n"


def test_migrate_moves_and_reports(project: Project) -> None:
    """Status 0 where every file was moved, 1 where one had to stay."""
    project.rules(a="Rule a.", b="Rule b.")
    project.write({".dsh/rules/b.md": "Other b."})
    ran = project.run("migrate", "--to-convention", "dsh")
    assert ran.status == 1
    assert ran.out.startswith("1 of 2 moved from ")
    assert project.run("migrate", "--from-convention", "dsh", "--to-scope", "user").status == 0
    assert sorted(path.name for path in (project.home / ".dsh" / "rules").iterdir()) == [
        "a.md",
        "b.md",
    ]


def test_migrate_as_json(project: Project) -> None:
    """One object a file, with the reason where it stayed."""
    project.rules(a="Rule a.")
    report = project.run("migrate", "--to-scope", "user", "--json").json
    assert report["target"] == str(project.home / ".omp" / "agent" / "rules")
    assert (report["moved"], report["of"]) == (1, 1)
    assert report["files"] == [{"name": "a.md", "outcome": "moved", "reason": ""}]
