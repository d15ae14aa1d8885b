"""What `ttsr test` tries: the text, from wherever it comes, and as what kind of output."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proxy.errors import CannotRun
from proxy.places import lies_in
from proxy.trial import Output
from rules_engine.scope import Surface

STDIN = "-"

# oh-my-pi's list of extensions that stand for source.
SOURCE_EXTENSIONS = frozenset(
    {
        "ts", "tsx", "js", "jsx", "mjs", "cjs", "rs", "py", "jl", "go", "java", "kt", "swift", "c",
        "cc", "cpp", "h", "hpp", "rb", "php", "lua", "css", "scss", "html", "json", "yml", "yaml",
        "toml", "md", "mdc", "cs", "razor", "cshtml", "fs", "fsx", "vb", "sh", "bash", "sql", "zig",
        "dart", "scala", "ex", "exs", "proto", "tf",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line says. `words`: the snippet itself, or the name of a file."""

    words: str | None = None
    file: str | None = None
    surface: Surface | None = None
    tool: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Snippet:
    """The output to try; `inferred`: how its surface was found, None where it was given."""

    output: Output
    inferred: str | None


def take(given: Given, workspace: str, stdin: Callable[[], bytes]) -> Snippet:
    """Read the text and settle the surface; raises CannotRun where there is no text."""
    file = given.file or _named_file(given.words)
    if file is not None and given.words is not None and file != given.words:
        raise CannotRun("give a snippet or --file, not both.")
    text = _text(given.words, file, stdin)
    if not text:
        raise CannotRun("there is no snippet: give it as an argument, with --file, or on stdin.")
    path = given.path or (_shown(file, workspace) if file not in (None, STDIN) else None)
    surface, inferred = _surface(given, path)
    if surface is not Surface.TOOL:
        return Snippet(Output(text, surface), inferred)
    return Snippet(Output(text, surface, given.tool or "edit", path), inferred)


def _named_file(words: str | None) -> str | None:
    try:
        return words if words == STDIN or (words and Path(words).is_file()) else None
    except (OSError, ValueError):  # a snippet may be no possible name of a file
        return None


def _text(words: str | None, file: str | None, stdin: Callable[[], bytes]) -> str:
    if file is None and words is not None:
        return words
    if file in (None, STDIN):
        return stdin().decode("utf-8", "replace")
    try:
        return Path(str(file)).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise CannotRun(f"{file} cannot be read: {error.strerror}.") from None


def _shown(file: str | None, workspace: str) -> str:
    """Name a file as an agent would: relative to the workspace where it lies in it."""
    absolute = os.path.realpath(str(file))
    inside = lies_in(absolute, workspace)
    return os.path.relpath(absolute, workspace).replace(os.sep, "/") if inside else absolute


def _surface(given: Given, path: str | None) -> tuple[Surface, str | None]:
    if given.surface is not None:
        return given.surface, None
    if given.tool is not None:
        return Surface.TOOL, "since a tool is named"
    extension = Path(path or "").suffix[1:].lower()
    if extension in SOURCE_EXTENSIONS:
        return Surface.TOOL, f"since .{extension} is an extension of source"
    if path is not None:
        return Surface.TEXT, "since the path has no known extension of source"
    return Surface.TEXT, "since no path and no tool is named"
