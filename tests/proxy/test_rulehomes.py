from __future__ import annotations

from pathlib import Path

import pytest

from proxy.config import Settings
from proxy.rulehomes import RuleHomes, rule_files


@pytest.fixture
def homes(tmp_path: Path) -> RuleHomes:
    return RuleHomes(tmp_path / "work", tmp_path / "user", tmp_path / "dsh")


def test_directories_are_those_of_discovery(tmp_path: Path) -> None:
    """Taken from the settings; dsh-rules' own are below the home directory."""
    settings = Settings.model_validate(
        {"workspace": str(tmp_path), "userRulesDir": str(tmp_path / "me")}
    )
    homes = RuleHomes.of(settings, home=tmp_path / "home")
    assert homes.directory("omp", "project") == tmp_path / ".omp" / "rules"
    assert homes.directory("dsh", "project") == tmp_path / ".dsh" / "rules"
    assert homes.directory("omp", "user") == tmp_path / "me" / "rules"
    assert homes.directory("dsh", "user") == tmp_path / "home" / ".dsh" / "rules"


@pytest.mark.case(83)
def test_empty_directory_does_not_choose_its_convention(homes: RuleHomes) -> None:
    """Only a rule file does, and each owner's directory is asked by itself."""
    directory = homes.directory("omp", "project")
    directory.mkdir(parents=True)
    assert homes.chosen("project") == "dsh"
    (directory / "notes.txt").write_text("no rule")
    assert homes.chosen("project") == "dsh"
    (directory / "a.md").write_text("a rule")
    assert (homes.chosen("project"), homes.chosen("user")) == ("omp", "dsh")


def test_deciding_makes_nothing(homes: RuleHomes, tmp_path: Path) -> None:
    """A directory is made by whoever writes to it."""
    assert homes.chosen("user") == "dsh"
    assert list(tmp_path.iterdir()) == []


def test_rule_files_are_sorted_and_visible(tmp_path: Path) -> None:
    """Of both endings; no directories."""
    for name in ("b.md", "a.mdc", ".c.md", "d.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "e.md").mkdir()
    assert [path.name for path in rule_files(tmp_path)] == ["a.mdc", "b.md"]
