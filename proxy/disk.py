"""The disk as a `Tree`: links stay inside their root, and every look is remembered.

What was looked at is the tree's fingerprint: it tells cheaply whether discovery would see
anything else today.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from proxy.places import lies_in
from rules_engine.discovery import Kind, TreeEntry, Unread
from rules_engine.frontmatter import LARGEST
from rules_engine.problems import Code

Mark = tuple[int, ...] | None


class DiskTree:
    """Reads through links only as long as they stay inside the root that they were found in.

    `roots`: real paths of the directories that discovery starts from. Not for use by two
    threads at once.
    """

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = tuple(sorted(set(roots), key=len, reverse=True))
        self._marks: dict[str, Mark] = {}

    @property
    def marks(self) -> Mapping[str, Mark]:
        """What each path that was looked at looked like; None for nothing."""
        return dict(self._marks)

    def list(self, directory: str) -> tuple[tuple[TreeEntry, ...], tuple[Unread, ...]]:
        """Entries of a directory, none where it is missing, and what could not be used."""
        self._marks[directory] = mark(directory)
        if not os.path.lexists(directory):
            return (), ()
        if not self._is_inside(directory):
            return (), (Unread(Code.BAD_LINK, directory),)
        try:
            names = sorted(entry.name for entry in Path(directory).iterdir())
        except NotADirectoryError:
            return (), ()
        except OSError as error:
            return (), (Unread(Code.UNREADABLE, directory, error.strerror or ""),)
        return self._entries(directory, names)

    def _entries(
        self, directory: str, names: Iterable[str]
    ) -> tuple[tuple[TreeEntry, ...], tuple[Unread, ...]]:
        entries: list[TreeEntry] = []
        unread: list[Unread] = []
        for name in names:
            path = f"{directory}/{name}"
            if not _is_text(name):
                shown = path.encode("utf-8", "replace").decode()
                unread.append(Unread(Code.BAD_NAME, shown))
            elif Path(path).is_symlink() and not self._is_inside(path):
                self._marks[path] = mark(path)
                unread.append(Unread(Code.BAD_LINK, path))
            elif (kind := _kind(path)) is not None:
                entries.append(TreeEntry(name, kind))
        return tuple(entries), tuple(unread)

    def kind(self, path: str) -> Kind | None:
        """Tell what is there, links followed; None where nothing usable is."""
        found = _kind(path) if self._is_inside(path) else None
        # What lies in a directory is the business of whoever lists it.
        self._marks.setdefault(path, None if found is None else (_KINDS[found],))
        return found

    def read(self, path: str) -> bytes | Unread:
        """Read one byte more than a rule may have at most."""
        self._marks[path] = mark(path)
        if not self._is_inside(path):
            return Unread(Code.BAD_LINK, path)
        if _kind(path) is not Kind.FILE:
            return Unread(Code.UNREADABLE, path, "no regular file")
        try:
            with Path(path).open("rb") as file:
                return file.read(LARGEST + 1)
        except OSError as error:
            return Unread(Code.UNREADABLE, path, error.strerror or "")

    def _is_inside(self, path: str) -> bool:
        """Whether the real path lies in the innermost root around the path as named."""
        try:
            real = os.path.realpath(path, strict=True)
        except (OSError, ValueError):
            return False
        root = next((root for root in self._roots if lies_in(path, root)), None)
        return real == path if root is None else lies_in(real, root)


_KINDS = {Kind.FILE: 1, Kind.DIRECTORY: 2}


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _kind(path: str) -> Kind | None:
    found = _stat(path)
    if found is None:
        return None
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        return Kind.DIRECTORY
    return Kind.FILE if stat.S_ISREG(mode) else None


def _stat(path: str) -> os.stat_result | None:
    try:
        # A path object for each would be most of what a look at all files costs.
        return os.stat(path)  # noqa: PTH116 - see above
    except (OSError, ValueError):
        return None


def mark(path: str) -> Mark:
    """Take what changes when a file or a directory's list of names changes; None for nothing."""
    found = _stat(path)
    if found is None:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)


def has_changed(marks: Mapping[str, Mark]) -> bool:
    """Whether any path looks other than it did."""
    return any(_looks_other(path, before) for path, before in marks.items())


def _looks_other(path: str, before: Mark) -> bool:
    if before is not None and len(before) == 1:
        found = _kind(path)
        return found is None or (_KINDS[found],) != before
    return mark(path) != before
