"""Which files of a directory a scan reads: those that git would not ignore."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.base import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from proxy.places import lies_in, real_path, repository


def files(directory: Path, *, gitignore: bool) -> Iterator[Path]:
    """Every regular file below a directory, hidden ones too; no links, nothing of git's own.

    `gitignore`: leave out what git would, by the ignore files of the repository around it too.
    """
    root = real_path(directory)
    yield from _below(root, tuple(_above(root)) if gitignore else (), gitignore=gitignore)


@dataclass(frozen=True, slots=True)
class _Ignore:
    """One file of ignore patterns, and the directory that they are relative to."""

    directory: str
    spec: GitIgnoreSpec

    def says(self, path: str) -> bool | None:
        """Whether the path is ignored; None where no pattern speaks of it."""
        return self.spec.check_file(path.removeprefix(f"{self.directory}/")).include


def _above(root: Path) -> Iterator[_Ignore]:
    """Ignore files of the repository around a directory, the outermost first."""
    top = Path(repository(str(root)))
    between = [each for each in (root, *root.parents) if lies_in(str(each), str(top))]
    yield from _ignores(top, top / ".git" / "info" / "exclude")
    for directory in reversed(between[1:]):
        yield from _ignores(directory, directory / ".gitignore")


def _ignores(directory: Path, file: Path) -> Iterator[_Ignore]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return
    yield _Ignore(str(directory).rstrip("/"), GitIgnoreSpec(_patterns(lines)))


def _patterns(lines: Sequence[str]) -> Iterator[GitIgnoreSpecPattern]:
    """What cannot be a pattern ignores nothing, as with git."""
    for line in lines:
        with contextlib.suppress(GitIgnorePatternError):
            yield GitIgnoreSpecPattern(line)


def _below(directory: Path, ignores: tuple[_Ignore, ...], *, gitignore: bool) -> Iterator[Path]:
    if gitignore:
        ignores = (*ignores, *_ignores(directory, directory / ".gitignore"))
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        kind = _kind(entry)
        if entry.name == ".git" or kind is None or _ignored(entry.path, kind, ignores):
            continue
        if kind == "directory":
            yield from _below(Path(entry.path), ignores, gitignore=gitignore)
        else:
            yield Path(entry.path)


def _kind(entry: os.DirEntry[str]) -> Literal["directory", "file"] | None:
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return "directory"
    return "file" if stat.S_ISREG(mode) else None


def _ignored(path: str, kind: str, ignores: Sequence[_Ignore]) -> bool:
    """The nearest file that speaks of a path decides; directories are told by a slash."""
    name = f"{path}/" if kind == "directory" else path
    answers = (ignore.says(name) for ignore in reversed(ignores))
    return next((answer for answer in answers if answer is not None), False)
