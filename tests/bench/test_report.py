"""One command, one report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.machine import lines

ROOT = Path(__file__).parents[2]


def test_the_command_writes_a_report(tmp_path: Path) -> None:
    """With the machine, the targets, and a section for each part that was asked for."""
    out = tmp_path / "report.md"
    argv = (sys.executable, "-m", "bench", "--quick", "--only", "rules", "--out", str(out))
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, timeout=100)
    text = out.read_text(encoding="utf-8")
    assert [line for line in text.split("\n") if line.startswith("#")] == [
        "# What ttsr-proxy costs",
        "## Targets",
        "## Rule files",
    ]
    assert "| reload, one file edited |" in text


def test_the_machine_is_told() -> None:
    """What a reader needs to compare: processor, kernel, Python, versions."""
    told = {line.split(" | ")[0].removeprefix("| ") for line in lines()[2:]}
    assert {"processor", "kernel", "Python", "ttsr-proxy", "packages", "peers"} <= told
