from __future__ import annotations

import os
from pathlib import Path

import pytest

from proxy.errors import CannotRun
from proxy.migrate import Axes, Migration, Move, Outcome, fields, migrate, relocate, report
from proxy.rulehomes import RuleHomes

SHM = Path("/dev/shm")  # noqa: S108 - a file system of its own


@pytest.fixture
def homes(tmp_path: Path) -> RuleHomes:
    return RuleHomes(tmp_path / "work", tmp_path / "user", tmp_path / "dsh")


def put(directory: Path, *names: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        (directory / name).write_text(name)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir()) if directory.exists() else []


@pytest.mark.parametrize(
    ("axes", "source", "target"),
    [
        (Axes(to_convention="dsh"), ("omp", "project"), ("dsh", "project")),
        (Axes(to_convention="omp"), ("dsh", "project"), ("omp", "project")),
        (Axes(to_owner="user"), ("omp", "project"), ("omp", "user")),
        (Axes(convention="dsh", to_owner="user"), ("dsh", "project"), ("dsh", "user")),
        (Axes(owner="user", to_owner="project"), ("dsh", "user"), ("dsh", "project")),
        (
            Axes(convention="omp", to_convention="dsh", to_owner="user"),
            ("omp", "project"),
            ("dsh", "user"),
        ),
        (Axes(convention="omp", to_convention="omp"), ("omp", "project"), ("omp", "project")),
    ],
)
def test_axes_are_independent(
    homes: RuleHomes, axes: Axes, source: tuple[str, str], target: tuple[str, str]
) -> None:
    """An axis that is left out stays as it is; the source is where rules are, else the other."""
    put(homes.directory("omp", "project"), "a.md")
    done = migrate(homes, axes)
    assert done.source == homes.directory(*source)  # type: ignore[arg-type]
    assert done.target == homes.directory(*target)  # type: ignore[arg-type]


@pytest.mark.case(84)
def test_clashing_name_stays_and_others_move(homes: RuleHomes) -> None:
    """The report says n of m; nothing is overwritten, under another ending neither."""
    source, target = homes.directory("omp", "project"), homes.directory("dsh", "project")
    put(source, "a.md", "b.md", "c.mdc", "RULES.md", "notes.txt", ".hidden.md")
    put(target, "b.mdc")
    done = migrate(homes, Axes(to_convention="dsh"))
    assert [(move.name, move.outcome) for move in done.moves] == [
        ("a.md", Outcome.MOVED),
        ("b.md", Outcome.NAME_TAKEN),
        ("c.mdc", Outcome.MOVED),
    ]
    assert names(source) == [".hidden.md", "RULES.md", "b.md", "notes.txt"]
    assert names(target) == ["a.md", "b.mdc", "c.mdc"]
    assert not done.complete
    lines = report(done)
    assert lines[0] == f"2 of 3 moved from {source} to {target}"
    assert lines[2] == f"  name-taken b.md ({target} has a rule b)"
    assert (fields(done)["moved"], fields(done)["of"]) == (2, 3)


def test_nothing_to_move_is_no_error(homes: RuleHomes) -> None:
    """A missing source, an empty one, and the same directory; nothing is made."""
    done = migrate(homes, Axes("omp", "dsh"))
    assert done.complete
    assert report(done) == [f"Nothing to move: {done.source} holds no rule files."]
    assert not done.target.exists()
    same = migrate(homes, Axes("omp", "omp"))
    assert "the same directory" in report(same)[0]


def test_file_in_the_way_is_not_overwritten(homes: RuleHomes) -> None:
    """Though it is no rule that discovery would see, as a directory or a broken link."""
    put(homes.directory("omp", "project"), "a.md")
    target = homes.directory("dsh", "project")
    (target / "a.md").mkdir(parents=True)
    (move,) = migrate(homes, Axes(to_convention="dsh")).moves
    assert move.outcome is Outcome.NAME_TAKEN
    assert names(homes.directory("omp", "project")) == ["a.md"]


def test_link_is_left_to_its_owner(homes: RuleHomes, tmp_path: Path) -> None:
    """A relative one would lead elsewhere after the move."""
    put(tmp_path, "real.md")
    source = homes.directory("omp", "project")
    source.mkdir(parents=True)
    (source / "a.md").symlink_to(tmp_path / "real.md")
    (move,) = migrate(homes, Axes("omp", "dsh")).moves
    assert move == Move("a.md", Outcome.FAILED, "it is a link; move what it points to")


def test_target_that_cannot_be_made_is_an_error(homes: RuleHomes) -> None:
    """Nothing was moved then."""
    put(homes.directory("omp", "project"), "a.md")
    (homes.workspace / ".dsh").write_text("a file")
    with pytest.raises(CannotRun, match="nothing was moved"):
        migrate(homes, Axes("omp", "dsh"))
    assert names(homes.directory("omp", "project")) == ["a.md"]


@pytest.mark.case(85)
@pytest.mark.skipif(not os.access(SHM, os.W_OK), reason="there is one file system only")
def test_file_moves_to_another_file_system(tmp_path: Path) -> None:
    """Copied, then deleted; where the copy fails, the source stays and no half of it is left."""
    source = tmp_path / "a.md"
    source.write_text("rule")
    target = SHM / f"{tmp_path.name}-{os.getpid()}.md"
    assert source.stat().st_dev != SHM.stat().st_dev
    try:
        relocate(source, target)
        assert (target.read_text(), source.exists()) == ("rule", False)
        source.write_text("other")
        with pytest.raises(FileExistsError):
            relocate(source, target)
        assert (target.read_text(), source.read_text()) == ("rule", "other")
    finally:
        target.unlink()


def test_file_that_vanished_is_reported(tmp_path: Path) -> None:
    """As any file that cannot be moved."""
    with pytest.raises(FileNotFoundError):
        relocate(tmp_path / "none.md", tmp_path / "b.md")
    assert not (tmp_path / "b.md").exists()


def test_empty_migration_is_complete(tmp_path: Path) -> None:
    """No file had to stay."""
    assert Migration(tmp_path, tmp_path, ()).complete
