"""The wheel that users get: built from this tree, and run without it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("proxy", "rules_engine")
DATA = {".md", ".html", ".css", ".js"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it with the build backend itself, so that no network is needed."""
    out = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out))
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


def files_of(folder: Path) -> set[str]:
    """Modules and data of both packages below a folder."""
    return {
        str(path.relative_to(folder))
        for package in PACKAGES
        for path in (folder / package).rglob("*")
        if path.suffix in {".py", *DATA}
    }


def test_wheel_holds_both_packages_and_the_rules(unpacked: Path) -> None:
    """Every module and every rule file of the tree, the demo's included."""
    assert files_of(unpacked) == files_of(ROOT)
    assert (unpacked / "proxy/demo/rules/no-any.md").is_file()


def test_wheel_holds_nothing_else(wheel: Path) -> None:
    """No tests, no settings of this checkout, nothing beside the packages and their metadata."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        suffixes = {Path(name).suffix for name in archive.namelist() if name.startswith(PACKAGES)}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert tops == {*PACKAGES, f"ttsr_proxy-{version}.dist-info"}
    assert suffixes <= {".py", *DATA}


def test_wheel_describes_itself(unpacked: Path) -> None:
    """Name, licence, the page that the README makes, and the command."""
    (info,) = unpacked.glob("*.dist-info")
    metadata = BytesParser().parsebytes((info / "METADATA").read_bytes())
    assert metadata["Name"] == "ttsr-proxy"
    assert metadata["License-Expression"] == "MIT"
    page = str(metadata.get_payload())
    assert page.strip() == (ROOT / "README.md").read_text("utf-8").strip()
    assert "ttsr = proxy.cli:main" in (info / "entry_points.txt").read_text("utf-8")


def test_wheel_runs_without_the_source(unpacked: Path, tmp_path: Path) -> None:
    """The demo plays from the unpacked wheel, in a directory that holds nothing of this tree."""
    code = (
        "import proxy, rules_engine\n"
        f"assert proxy.__file__.startswith({str(unpacked)!r}), proxy.__file__\n"
        f"assert rules_engine.__file__.startswith({str(unpacked)!r}), rules_engine.__file__\n"
        "from proxy.cli import main\n"
        "main()\n"
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(unpacked)}
    ran = subprocess.run(
        (sys.executable, "-c", code, "demo"),
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "no-any        interrupt" in ran.stdout
