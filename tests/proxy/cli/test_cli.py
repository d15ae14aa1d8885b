from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proxy.cli import cli, main
from tests.support.command import Project
from tests.support.rules import rule_text

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Command:
    """`ttsr` in this process, as its entry point runs it, in the project's directory."""

    patch: pytest.MonkeyPatch
    captured: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str, **env: str) -> tuple[object, str, str]:
        with self.patch.context() as patch:
            patch.setattr(sys, "argv", ["ttsr", *arguments])
            patch.setattr(sys, "excepthook", sys.excepthook)  # typer puts its own there
            for name, value in env.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                main()
        return ended.value.code or 0, *self.captured.readouterr()


@pytest.fixture
def ttsr(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("HOME", str(project.home))
    return Command(monkeypatch, capsys)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.at(tmp_path)
    made.rules(words=rule_text("Say it kindly.", condition="FORBIDDEN", scope="text"))
    return made


def test_status_reaches_the_shell(project: Project) -> None:
    """Of a process of its own, which reads its standard input."""
    code = "from proxy.cli import main; main()"
    env = {"PATH": os.environ["PATH"], "HOME": str(project.home), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", code, "test", "-"],
        cwd=project.root, env=env, input="FORBIDDEN", text=True,
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (1, "")


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_status_is_the_same_for_programs(ttsr: Command, flags: tuple[str, ...]) -> None:
    """0, 1 and 2."""
    assert ttsr("test", "fine", *flags)[0] == 0
    assert ttsr("test", "FORBIDDEN", *flags)[0] == 1
    assert ttsr("test", "x", "--file", "missing", *flags)[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("test", "x", "--bogus"),
        ("test", "x", "--surface", "smell"),
        ("show",),
        ("bogus",),
        ("test", "x", "--config", "missing.yaml"),
        ("show", "nothing"),
    ],
)
def test_errors_are_json_for_programs(ttsr: Command, arguments: tuple[str, ...]) -> None:
    """Of a bad command line too: one object with `error` on standard output, status 2."""
    status, out, err = ttsr(*arguments, "--json")
    assert (status, err) == (2, "")
    assert set(json.loads(out)) == {"error"}
    status, out, err = ttsr(*arguments)
    assert (status, out) == (2, "")
    assert err


def test_shells_complete_commands_and_names_of_rules(ttsr: Command) -> None:
    """By typer's protocol for bash."""
    asked = {"_TTSR_COMPLETE": "complete_bash", "COMP_CWORD": "1", "COMP_WORDS": "ttsr sc"}
    assert ttsr(**asked)[1].split() == ["scan"]
    asked |= {"COMP_CWORD": "2", "COMP_WORDS": "ttsr show w"}
    assert ttsr(**asked)[1].split() == ["words"]


def test_help_names_every_command(ttsr: Command) -> None:
    """With a sentence each."""
    _, out, _ = ttsr("--help")
    commands = "serve demo tail list show test scan lint prompt config new migrate verify"
    assert not [name for name in commands.split() if f" {name} " not in out]


def test_version_is_told() -> None:
    """`ttsr --version` names the program and its version, and does nothing else."""
    result = CliRunner().invoke(cli, ["--version"])
    assert result.exit_code == 0
    assert result.output.strip() == f"ttsr {version('ttsr-proxy')}"
