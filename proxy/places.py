"""Which directory a request's workspace label means: an allow list, everything else is a label."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """Directories whose rules may be read.

    `workspace`: the configured one, which governs where a label names nothing else. `others`:
    directories that may be named, with what lies below them. `loopback`: whether the user's own
    directories may be named too, since only the user can reach us.
    """

    workspace: Path
    others: tuple[Path, ...] = ()
    loopback: bool = True
    home: Path | None = None

    def directory(self, label: str) -> str:
        """Give the real path of the directory whose rules govern a request with this label."""
        root = real_path(self.workspace)
        if not label or "\0" in label:
            return str(root)
        allowed = (root, *(real_path(path) for path in self.others))
        for candidate in self._meant(label, allowed):
            real = real_path(candidate)
            if _is_directory(real) and self._may_be_read(real, allowed):
                return str(real)
        return str(root)

    def _meant(self, label: str, allowed: tuple[Path, ...]) -> Iterator[Path]:
        """What a label may mean: a path, a path below home, an allowed directory's name."""
        if label.startswith("/"):
            yield Path(label)
        elif label.startswith("~/") and self.home:
            yield self.home / label[2:]
        else:
            yield from (path for path in allowed if path.name == label)

    def _may_be_read(self, real: Path, allowed: tuple[Path, ...]) -> bool:
        if any(lies_in(str(real), str(each)) for each in allowed):
            return True
        if not self.loopback:
            return False
        own = self.home is not None and lies_in(str(real), str(real_path(self.home)))
        return own or real.stat().st_uid == os.getuid()


def real_path(path: Path) -> Path:
    """Resolve links as far as they go; unlike `Path.resolve` a loop is no error."""
    return Path(os.path.realpath(path))


def lies_in(path: str, root: str) -> bool:
    """Whether a path is the root or below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def repository(directory: str) -> str:
    """Find the repository around a directory, else give the directory."""
    path = Path(directory)
    return str(next((each for each in (path, *path.parents) if (each / ".git").exists()), path))


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
