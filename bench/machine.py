"""The machine and the versions that figures come from."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

import psutil

from bench.findings import table
from bench.peers import ENVIRONMENTS

_ROOT = Path(__file__).parent.parent
_PACKAGES = (
    "fastapi", "starlette", "uvicorn", "uvloop", "httptools", "httpx", "aiohttp", "msgspec",
    "regex", "hyperscan",
)  # fmt: skip


def lines() -> list[str]:
    """A table of what a reader must know to compare figures."""
    return table(("what", "is"), [[name, value] for name, value in _facts()])


def _facts() -> Iterator[tuple[str, str]]:
    usable = len(os.sched_getaffinity(0))
    yield "processor", f"{_processor()}, {usable} cores" + ("" if usable > 1 else " (shared!)")
    yield "memory", f"{psutil.virtual_memory().total / 2**30:.0f} GiB"
    yield "load average before", " ".join(f"{load:.2f}" for load in os.getloadavg())
    yield "kernel", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "Python", f"{platform.python_implementation()} {platform.python_version()}"
    yield "ttsr-proxy", f"{version('ttsr-proxy')} {_commit()}".strip()
    yield "packages", ", ".join(_versions())
    yield "peers", ", ".join(_peers()) or "none installed"


def _processor() -> str:
    found = re.search(r"model name\s*:\s*(.+)", _text(Path("/proc/cpuinfo")))
    return found[1] if found else platform.processor() or "unknown"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _versions() -> Iterator[str]:
    for name in _PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"no {name}"


def _peers() -> Iterator[str]:
    for wanted in sorted((_ROOT / "bench" / "peers").glob("requirements-*.txt")):
        environment = ENVIRONMENTS / wanted.stem.removeprefix("requirements-")
        below = [str(each) for each in environment.glob("lib/python*/site-packages")]
        name = re.split(r"[\[>=<~!; ]", wanted.read_text(encoding="utf-8").strip())[0]
        for found in distributions(name=name, path=below):
            yield f"{name} {found.version}"
    said = _said("/usr/sbin/nginx", "-v")
    if said:
        yield said.removeprefix("nginx version: ").replace("/", " ")


def _commit() -> str:
    return _said("git", "-C", str(_ROOT), "describe", "--always", "--dirty")


def _said(*argv: str) -> str:
    try:
        ran = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: S603 - fixed
    except FileNotFoundError:
        return ""
    return (ran.stdout or ran.stderr).strip() if ran.returncode == 0 else ""
