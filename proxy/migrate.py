"""Moves rule files between conventions and between project and user; nothing is overwritten."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from proxy.errors import CannotRun
from proxy.rulehomes import Convention, Owner, RuleHomes, rule_files

_STICKY = "RULES"
# What a file system answers that cannot link, or not to there.
_NO_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK})


class Outcome(StrEnum):
    """What became of one file."""

    MOVED = "moved"
    NAME_TAKEN = "name-taken"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Axes:
    """From where to where, on two independent axes; None in a target: stays as it is.

    `convention` None: the other one where a target is given, else the one in use.
    """

    convention: Convention | None = None
    to_convention: Convention | None = None
    owner: Owner = "project"
    to_owner: Owner | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """One file. `reason`: why it stayed where it was."""

    name: str
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Migration:
    """What was moved from one directory to another, by name."""

    source: Path
    target: Path
    moves: tuple[Move, ...]

    @property
    def moved(self) -> int:
        """How many files were moved."""
        return sum(move.outcome is Outcome.MOVED for move in self.moves)

    @property
    def complete(self) -> bool:
        """Whether no file had to stay."""
        return self.moved == len(self.moves)


def migrate(homes: RuleHomes, axes: Axes) -> Migration:
    """Move every rule file but the sticky `RULES.md`; the target directory is made.

    Of the same directory, or an empty or missing one, nothing is moved. Raises CannotRun where
    the target cannot be made.
    """
    source, target = _ends(homes, axes)
    files = [path for path in rule_files(source) if path.stem != _STICKY]
    if source == target or not files:
        return Migration(source, target, ())
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRun(f"{target} cannot be made: {error.strerror}; nothing was moved.") from None
    taken = {path.stem for path in rule_files(target)}
    return Migration(source, target, tuple(_move(path, target, taken) for path in files))


def _ends(homes: RuleHomes, axes: Axes) -> tuple[Path, Path]:
    convention = axes.convention or _convention(homes, axes)
    source = homes.directory(convention, axes.owner)
    to_convention = axes.to_convention or convention
    return source, homes.directory(to_convention, axes.to_owner or axes.owner)


def _convention(homes: RuleHomes, axes: Axes) -> Convention:
    if axes.to_convention is None or axes.to_owner not in (None, axes.owner):
        return homes.chosen(axes.owner)
    return "dsh" if axes.to_convention == "omp" else "omp"


def _move(path: Path, target: Path, taken: set[str]) -> Move:
    if path.stem in taken:
        return Move(path.name, Outcome.NAME_TAKEN, f"{target} has a rule {path.stem}")
    if path.is_symlink():
        return Move(path.name, Outcome.FAILED, "it is a link; move what it points to")
    try:
        relocate(path, target / path.name)
    except FileExistsError:
        return Move(path.name, Outcome.NAME_TAKEN, f"{target} has a file {path.name}")
    except OSError as error:
        return Move(path.name, Outcome.FAILED, error.strerror or type(error).__name__)
    return Move(path.name, Outcome.MOVED)


def relocate(path: Path, target: Path) -> None:
    """Move one file, to another file system too; raises FileExistsError rather than overwrite.

    The source is deleted last, so a failure loses nothing. Raises OSError.
    """
    try:
        os.link(path, target)
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        _copy(path, target)
    path.unlink()


def _copy(path: Path, target: Path) -> None:
    with path.open("rb") as source, target.open("xb") as copy:
        try:
            shutil.copyfileobj(source, copy)
            copy.flush()
            os.fsync(copy.fileno())
            shutil.copystat(path, target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def report(migration: Migration) -> Sequence[str]:
    """Lines for a person: how many were moved, then one a file."""
    if migration.source == migration.target:
        return [f"Source and target are the same directory ({migration.source}): nothing to move."]
    if not migration.moves:
        return [f"Nothing to move: {migration.source} holds no rule files."]
    head = f"{migration.moved} of {len(migration.moves)} moved"
    lines = [f"{head} from {migration.source} to {migration.target}"]
    for move in migration.moves:
        why = f" ({move.reason})" if move.reason else ""
        lines.append(f"  {move.outcome:<10} {move.name}{why}")
    return lines


def fields(migration: Migration) -> dict[str, Any]:
    """The migration as JSON."""
    return {
        "source": str(migration.source),
        "target": str(migration.target),
        "moved": migration.moved,
        "of": len(migration.moves),
        "files": [
            {"name": move.name, "outcome": move.outcome, "reason": move.reason}
            for move in migration.moves
        ],
    }
