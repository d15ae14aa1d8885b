"""One command, one report."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from bench import __main__ as command
from bench.findings import Section, at_most
from bench.machine import lines

ROOT = Path(__file__).parents[2]


def test_the_command_writes_a_report(tmp_path: Path) -> None:
    """With the machine, the targets, and a section for each part that was asked for."""
    out = tmp_path / "report.md"
    parts = ("--only", "rules", "--only", "cuts", "--soak", str(tmp_path / "none.json"))
    argv = (sys.executable, "-m", "bench", "--quick", *parts, "--out", str(out))
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, timeout=100)
    text = out.read_text(encoding="utf-8")
    assert [line for line in text.split("\n") if line.startswith("#")] == [
        "# What ttsr-proxy costs",
        "## Targets",
        "## Rule files",
        "## Cuts",
        "## Soak",
    ]
    assert "| reload, one file edited |" in text
    assert "| 0 differences | met |" in text
    assert "`make soak`" in text


def test_the_last_soak_stands_in_the_report(tmp_path: Path) -> None:
    """It takes half an hour and is a run of its own; what it came to is told with the rest."""
    out, soak = tmp_path / "report.md", tmp_path / "soak.json"
    finding = at_most("18", "memory at the end against minute 5", 1.05, 1.2)
    soak.write_text(Section("Soak", ["7 streams"], [finding]).as_json(), encoding="utf-8")
    parts = ("--only", "rules", "--soak", str(soak))
    argv = (sys.executable, "-m", "bench", "--quick", *parts, "--out", str(out))
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, timeout=100)
    text = out.read_text(encoding="utf-8")
    assert "| 18 | memory at the end against minute 5 |" in text
    assert "7 streams" in text


def test_a_part_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told as not measured; half an hour's figures must not be lost by one of them."""
    monkeypatch.setattr(command, "_ALONE", {"absent": (1, 1)})
    section = command._section("absent", Namespace(quick=True, rounds=1))
    assert section.title == "Absent"
    assert section.faults == ["bench.absent ended with 1; stderr has its reason"]


def test_the_machine_is_told() -> None:
    """What a reader needs to compare: processor, kernel, Python, versions."""
    told = {line.split(" | ")[0].removeprefix("| ") for line in lines()[2:]}
    assert {"processor", "kernel", "Python", "ttsr-proxy", "packages", "peers"} <= told
