"""Compiled scanners kept on disk by the hash of what they were compiled from.

What is there spares the next start the work, and nothing depends on it: whatever cannot be read,
or is not ours, is compiled again. A file is taken up only if nobody but its owner could have
written it, for a compiled scanner is trusted like code.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rules_engine.matcher import Matcher

MOST_FILES = 64
MOST_BYTES = 64 * 2**20

_NAME = re.compile(r"[0-9a-f]{64}\.scanner")
_UNFINISHED = ".unfinished"
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
# A waiting pipe must not stop us, nor a link lead elsewhere; not every platform knows both.
_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

_log = logging.getLogger(__name__)


class ScannerCache:
    """A folder of compiled scanners, the least used removed beyond a number and a size in bytes.

    Nothing is raised: what the disk refuses is not kept, and that is told once. Used on one thread
    at a time; several processes may share the folder.
    """

    def __init__(
        self, folder: Path, *, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES
    ) -> None:
        self._folder = folder
        self._most_files = most_files
        self._most_bytes = most_bytes
        self._told = False

    @classmethod
    def beside(cls, database: Path) -> ScannerCache | None:
        """Keep scanners in a folder beside the database, which is its user's own; None for none."""
        return cls(database.with_name(f"{database.name}-scanners")) if database.name else None

    def read(self, key: str) -> bytes | None:
        """Give what was written under a key; None for nothing, or for what others could write."""
        path = self._path(key)
        try:
            if not _is_own(self._folder.stat()):
                return None
            with open(os.open(path, _READING | getattr(os, "O_BINARY", 0)), "rb") as file:  # noqa: PTH123 - a descriptor
                found = os.fstat(file.fileno())
                if not (stat.S_ISREG(found.st_mode) and _is_own(found)):
                    return None
                data = file.read(self._most_bytes + 1)
            os.utime(path)  # the age by which files are removed
        except FileNotFoundError:
            return None
        except OSError as problem:
            self._tell(problem)
            return None
        return data

    def write(self, key: str, data: bytes) -> None:
        """Keep data under a key, whole or not at all."""
        if len(data) > self._most_bytes:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_own(self._folder.stat()):
                raise PermissionError(0, "the folder is not this user's alone")
            self._replace(key, data)
            self._bound()
        except OSError as problem:
            self._tell(problem)

    def _replace(self, key: str, data: bytes) -> None:
        # Made with mode 0600.
        descriptor, name = tempfile.mkstemp(_UNFINISHED, key[:8], self._folder)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                file.write(data)
            Path(name).replace(self._path(key))
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise

    def _bound(self) -> None:
        """Remove the files that were not used for longest, and what was left unfinished."""
        size = 0
        for number, (path, found) in enumerate(self._newest_first()):
            size += found.st_size
            if number >= self._most_files or size > self._most_bytes:
                path.unlink(missing_ok=True)

    def _newest_first(self) -> list[tuple[Path, os.stat_result]]:
        known = [(path, path.lstat()) for path in self._own_files()]
        return sorted(known, key=lambda entry: entry[1].st_mtime_ns, reverse=True)

    def _own_files(self) -> Iterator[Path]:
        for path in self._folder.iterdir():
            if _NAME.fullmatch(path.name) or path.suffix == _UNFINISHED:
                yield path

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.scanner"

    def _tell(self, problem: OSError) -> None:
        if not self._told:
            self._told = True
            _log.warning(
                "compiled rules are not kept in %s (%s); they are compiled again at each start",
                self._folder,
                problem.strerror or type(problem).__name__,
            )


def _is_own(found: os.stat_result) -> bool:
    """Whether only this user could have written it; unknown users are those of Windows."""
    user = getattr(os, "geteuid", None)
    return user is None or (found.st_uid == user() and not found.st_mode & _OTHERS_MAY_WRITE)


def complete(matcher: Matcher, cache: ScannerCache | None) -> None:
    """Give a matcher its compiled scanner, out of the cache or into it. Takes up to seconds."""
    key = matcher.key
    if key is None:
        return
    data = cache.read(key) if cache else None
    scanner = matcher.restore(data) if data else None
    if scanner is not None:
        matcher.adopt(scanner)
        _log.debug("the scanner of %d patterns was taken from the cache", len(matcher.patterns))
        return
    scanner = matcher.compile()
    matcher.adopt(scanner)
    _log.debug("the scanner of %d patterns was compiled", len(matcher.patterns))
    if cache and scanner is not None:
        cache.write(key, scanner.dump())
