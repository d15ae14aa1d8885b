"""The file that the lines in front of a block name, decorated as models do."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"(?:`{3,}|<(?:source|code|pre|codeblock|sourcecode)>)(.*)")
_FILE_NAME = re.compile(r"[^\s/\\]+\.\w{1,10}")


def named_by(lines: Sequence[str]) -> tuple[str, ...]:
    """Read the nearest line; those before it only while there is nothing but fences between.

    Where a line is more than a path, its last word is given as well, if that looks like a file.
    """
    for line in reversed(lines):
        fence = _FENCE.fullmatch(line.strip())
        named = _path_in(fence.group(1), sure=False) if fence else _path_in(line, sure=True)
        if named or fence is None:
            return named
    return ()


def _path_in(line: str, *, sure: bool) -> tuple[str, ...]:
    """`sure`: the line is there to name a file, so that a bare word is one."""
    path = line.strip().lstrip("#").strip(" \t*`:")
    if not path or "..." in path:
        return ()
    words = path.split()
    if len(words) == 1:
        bare = sure and not line.rstrip().endswith(":")  # "Next:" is none
        return (path,) if bare or "." in path or "/" in path else ()
    last = words[-1].strip("`*")
    return (path, last) if _FILE_NAME.fullmatch(last.rpartition("/")[2]) else ()
