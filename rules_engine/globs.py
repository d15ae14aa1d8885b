"""Path globs and the candidates that they are tried on.

Case-sensitive; `*` and `?` stay within a segment, `**` takes whole segments, braces nest, ranges
and dot files match. A pattern without a slash is tried on the base name too.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import bracex
from wcmatch import glob as wcglob

from rules_engine.problems import Code, Problem

LONGEST = 1024
MOST_ALTERNATIVES = 256
DEEPEST_BRACES = 8
LONGEST_PATH = 4096

_FLAGS = wcglob.CASE | wcglob.FORCEUNIX | wcglob.DOTGLOB
_ANY_DEPTH = None  # a `**` segment

_Segment = re.Pattern[str] | None
_WINDOWS = re.compile(r"\\[A-Za-z0-9_]")
_LONE_BRACES = re.compile(r"(?<![\\$])\{([^{},\\]*)\}")
_RANGE = re.compile(r"[^.]+\.\.[^.]+")


@dataclass(frozen=True, slots=True)
class Glob:
    """One glob as its author wrote it. A malformed one matches nothing."""

    pattern: str

    @property
    def malformed(self) -> bool:
        """Whether it can match nothing: it cannot be read, or stands for no text at all."""
        return not _compiled(self.pattern)

    def matches(self, candidates: Iterable[str]) -> bool:
        """Whether one of a path's candidates, or its base name, matches."""
        alternatives = _compiled(self.pattern)
        if not alternatives:
            return False
        return any(
            _fits(alternative, form)
            for candidate in candidates
            for form in _forms(candidate)
            for alternative in alternatives
        )


def _forms(path: str) -> tuple[tuple[str, ...], ...]:
    """Give a path's segments, and its base name alone; none for an absurdly long path."""
    if len(path) > LONGEST_PATH:
        return ()
    whole = tuple(re.sub(r"/{2,}", "/", path.replace("\\", "/")).split("/"))
    return (whole,) if len(whole) == 1 else (whole, whole[-1:])


def _fits(pattern: tuple[_Segment, ...], path: tuple[str, ...]) -> bool:
    """Match segment by segment; only the last `**` is ever gone back to, so this is linear."""
    at = here = 0
    star, resume = -1, 0
    while here < len(path):
        if at < len(pattern) and pattern[at] is _ANY_DEPTH:
            star, resume, at = at, here, at + 1
            continue
        segment = pattern[at] if at < len(pattern) else None
        if segment is not None and segment.fullmatch(path[here]):
            at, here = at + 1, here + 1
        elif star >= 0:
            resume += 1
            at, here = star + 1, resume
        else:
            return False
    return all(segment is _ANY_DEPTH for segment in pattern[at:])


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> tuple[tuple[_Segment, ...], ...] | None:
    """Brace-free alternatives as lists of segments; None for a malformed pattern."""
    written = _normalised(pattern)
    if not written or written.startswith("!") or not _balanced(written):
        return None
    try:
        forms = bracex.expand(written, keep_escapes=True, limit=MOST_ALTERNATIVES)
        return tuple(_segments(form) for form in dict.fromkeys(forms) if form)
    except (bracex.ExpansionLimitException, re.error, ValueError):
        return None


def _normalised(pattern: str) -> str:
    """Without a leading `./`, Windows separators, and braces around one alternative."""
    if len(pattern) > LONGEST:
        return ""
    written = pattern.strip()
    # A backslash in front of a letter escapes nothing: the author wrote Windows separators.
    written = written.replace("\\", "/") if _WINDOWS.search(written) else written
    written = _LONE_BRACES.sub(_unbraced, written)
    while written.startswith("./"):
        written = written[2:]
    return written.replace("\\/", "/")


def _unbraced(match: re.Match[str]) -> str:
    return match[0] if _RANGE.fullmatch(match[1]) else match[1]


def _segments(form: str) -> tuple[_Segment, ...]:
    parts = re.sub(r"/{2,}", "/", form).split("/")
    found: list[_Segment] = []
    for part in parts:
        if part != "**":
            found.append(_segment(part))
        elif not found or found[-1] is not _ANY_DEPTH:
            found.append(_ANY_DEPTH)
    # `dir/**` is what lies below, never `dir` itself.
    return (*found, re.compile(r"[\s\S]+")) if found[-1] is _ANY_DEPTH else tuple(found)


def _segment(part: str) -> re.Pattern[str]:
    if not part:
        return re.compile(r"\Z")
    included, _ = wcglob.translate(part, flags=_FLAGS)
    return re.compile(included[0])


def _balanced(pattern: str) -> bool:
    """Whether brackets and braces pair up and no escape stands at the end."""
    depth, at = 0, 0
    while at < len(pattern):
        match pattern[at]:
            case "\\":
                at += 1
                if at >= len(pattern):
                    return False
            case "[":
                at = _range_end(pattern, at)
                if at < 0:
                    return False
            case "{":
                depth += 1
            case "}":
                depth -= 1
            case "]":
                return False
            case _:
                pass
        if not 0 <= depth <= DEEPEST_BRACES:
            return False
        at += 1
    return depth == 0


def _range_end(pattern: str, start: int) -> int:
    """Index of the bracket that closes the range opened at `start`; -1 if it is malformed."""
    at = start + 1
    at += pattern[at : at + 1] in ("!", "^")
    first = at
    while at < len(pattern):
        char = pattern[at]
        if char == "]" and at > first:
            return at
        if char == "/":
            return -1
        if char == "-" and first < at and _reversed(pattern[at - 1], pattern[at + 1 : at + 2]):
            return -1
        at += 2 if char == "\\" else 1
    return -1


def _reversed(low: str, high: str) -> bool:
    return high not in ("", "]", "\\") and low > high


def split_commas(text: str) -> tuple[str, ...]:
    """Parts between commas outside quotes, `()`, `[]` and `{}`; trimmed, unquoted, none empty.

    A quote counts only at the start of a part, so that an apostrophe in a path is a character.
    """
    parts: list[str] = []
    depth, quote, start = 0, "", 0
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not text[start:at].strip():
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth = max(0, depth - 1)
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return tuple(bare for part in parts if (bare := unquoted(part.strip()).strip()))


def unquoted(text: str) -> str:
    """Text without one pair of quotes around all of it."""
    paired = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if paired and text[0] not in text[1:-1] else text


def parse_globs(
    value: str | Sequence[str], *, file: str, field: str, line: int | None = None
) -> tuple[tuple[Glob, ...], tuple[Problem, ...]]:
    """Globs of a comma-separated string or a list. A malformed one stays and matches nothing:
    without it the rule would watch more than its author asked for.
    """  # noqa: D205 - one sentence and its reason
    written = split_commas(value) if isinstance(value, str) else value
    globs = tuple(Glob(bare) for bare in dict.fromkeys(part.strip() for part in written) if bare)
    problems = tuple(
        Problem(Code.BAD_GLOB, file, field, line, glob.pattern) for glob in globs if glob.malformed
    )
    return globs, problems


def path_candidates(path: str, workspace: str | None) -> tuple[str, ...]:
    """Forms of a call's path: as written, without `./`, absolute, relative to the workspace.

    `workspace`: an absolute directory, which need not exist here; separators become slashes.
    """
    written = path.strip().replace("\\", "/")
    if not written:
        return ()
    plain = posixpath.normpath(written)
    forms = [written, plain]
    root = posixpath.normpath(workspace.replace("\\", "/")) if workspace else ""
    if root and _is_absolute(root):
        absolute = plain if _is_absolute(plain) else posixpath.normpath(f"{root}/{plain}")
        forms += [absolute, *_below(absolute, root)]
    return tuple(dict.fromkeys(forms))


def below(directory: str, path: str) -> str:
    """Give `path` as seen from where `directory` is itself seen from; absolute ones stay.

    What begins with `~` or a variable is taken for absolute. The result is never much longer than
    a path that globs are tried on.
    """
    if not directory or stands_alone(path):
        return path
    joined = f"{directory.rstrip('/')}/{path}"[: LONGEST_PATH + 1]
    return joined if "$" in directory else posixpath.normpath(joined)


def stands_alone(path: str) -> bool:
    """Whether a path means the same in every directory."""
    return path[:1] in ("~", "$") or _is_absolute(path.replace("\\", "/"))


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or re.match(r"[A-Za-z]:/", path) is not None


def _below(path: str, root: str) -> tuple[str, ...]:
    """Give the path relative to `root`, if it lies inside. Drive letters have no case."""
    prefix = root if root.endswith("/") else f"{root}/"
    drive = 1 if re.match(r"[A-Za-z]:", root) else 0
    same = path[:drive].lower() == prefix[:drive].lower()
    inside = same and path[drive:].startswith(prefix[drive:])
    return (path[len(prefix) :],) if inside and len(path) > len(prefix) else ()
