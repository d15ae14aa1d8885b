"""What is known of a tool, as data: names, canonical tools, and which arguments hold what.

An argument is written as its path in the arguments: `filePath`, `edits[].newText`; the empty
path is the whole of the arguments where they are one bare string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rules_engine.arguments import ArgumentPath

Spec = tuple[str | int | None, ...]
"""A parsed argument path; None stands for any position of a list."""


class PatchFormat(StrEnum):
    """How a text says what it adds to which files."""

    ENVELOPE = "envelope"  # *** Begin Patch, *** Update File: …
    UNIFIED = "unified"  # --- a/x, +++ b/x, @@
    HUNKS = "hunks"  # lines with + - and space, the file being named elsewhere
    SEARCH_REPLACE = "search-replace"  # <<<<<<< SEARCH … ======= … >>>>>>> REPLACE
    HASHLINE = "hashline"  # [path#tag], operations, rows that begin with +
    SHELL = "shell"  # commands that write files: cat > file <<EOF, sed -i, apply_patch


class ProseFormat(StrEnum):
    """How an answer's text says which files it edits, or which tools it calls."""

    SEARCH_REPLACE = "search-replace"  # a line with the path, then the blocks
    WHOLE_FILE = "whole-file"  # a line with the path, then the file in a fence
    UNIFIED = "unified"  # a fence tagged diff
    ENVELOPE = "envelope"  # *** Begin Patch
    ELEMENTS = "elements"  # <write_to_file><path>…</path><content>…
    FUNCTIONS = "functions"  # <function=name><parameter=name>…
    ARGUMENT_LINES = "argument-lines"  # TOOL_NAME: …, BEGIN_ARG: …, END_ARG
    OLD_NEW = "old-new"  # <old_text>…</old_text><new_text>…</new_text>
    SHELL = "shell"  # a command in a fence tagged bash


@dataclass(frozen=True, slots=True)
class EditsInProse:
    """The formats that a text is read for. `path`: the file, where the text names none."""

    formats: tuple[ProseFormat, ...] = ()
    path: str = ""


NO_EDITS = EditsInProse()


@dataclass(frozen=True, slots=True)
class PatchArgument:
    """An argument that holds patch text. `canonical` empty: as the family says."""

    argument: str
    format: PatchFormat
    canonical: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolFamily:
    """One shape of arguments of some tools. Names are compared in lower case, without prefix.

    canonical: what else the tool may be called in a scope. paths: the file (alternatives).
    added: arguments with new source. patches: arguments with patch text. removed: arguments with
    old text, never matched. renamed: a second path of the same file.
    where: applies only if the argument has one of the values; unless: only if it has none of
    them; without: only if none of the arguments is there (known at the end of the call).
    freeform: the formats of a raw input that is not JSON.
    directory: where the files that a text names are, if their paths are relative (alternatives).
    words: arguments whose strings are, in this order, the words of one command.
    rooted: a relative path begins with the name of the workspace's folder.
    opened_by: earlier calls that open the file which calls of these tools edit (tool, argument);
    file: that file, where it is known.
    """

    tools: tuple[str, ...]
    canonical: tuple[str, ...]
    paths: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    patches: tuple[PatchArgument, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unless: tuple[tuple[str, tuple[str, ...]], ...] = ()
    without: tuple[str, ...] = ()
    freeform: tuple[PatchFormat, ...] = ()
    directory: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    rooted: bool = False
    opened_by: tuple[tuple[str, str], ...] = ()
    file: str = ""


def shell_family(
    tools: tuple[str, ...],
    arguments: tuple[str, ...],
    *,
    directory: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
    rooted: bool = False,
) -> ToolFamily:
    """Make the family of a shell tool: the command itself, and the files that it writes.

    arguments: those that hold command lines. words: those that hold the words of a command.
    """
    return ToolFamily(
        tools=tools,
        canonical=("bash", "shell"),
        added=tuple(dict.fromkeys((*arguments, *words))),
        patches=tuple(
            PatchArgument(argument, PatchFormat.SHELL, ("write", "edit")) for argument in arguments
        ),
        freeform=(PatchFormat.SHELL,),
        directory=directory,
        words=words,
        rooted=rooted,
    )


_PREFIX_END = re.compile(r"__|[.:/]")


def bare_name(name: str) -> str:
    """Give a tool's name in lower case without its MCP server or namespace.

    `mcp__files__Write`, `developer__write`, `functions.write` and `files/write` are all `write`.
    """
    lower = name.strip().lower()
    return _PREFIX_END.split(lower)[-1] or lower


def own_names(name: str) -> tuple[str, ...]:
    """Give the names that the tool itself answers to: as called, and without its prefix."""
    return tuple(dict.fromkeys((name.strip().lower(), bare_name(name))))


def named(families: Iterable[ToolFamily], name: str) -> tuple[ToolFamily, ...]:
    """Give the families that list this tool."""
    bare = bare_name(name)
    return tuple(family for family in families if bare in family.tools)


def possible_names(families: Iterable[ToolFamily], name: str) -> tuple[str, ...]:
    """Give every name under which a scope may mean calls of this tool, whatever its arguments.

    For deciding ahead of a call whether a rule could admit it. An argument that no family
    explains may still turn out to write or edit, so those names are always among them.
    """
    found = (*named(families, name), *HEURISTIC)
    canonical = (alias for family in found for alias in canonical_of(family))
    return tuple(dict.fromkeys((*own_names(name), *canonical)))


def canonical_of(family: ToolFamily) -> tuple[str, ...]:
    """Give all canonical names that a family can lend to a call."""
    own = (alias for patch in family.patches for alias in patch.canonical)
    return tuple(dict.fromkeys((*family.canonical, *own)))


def parsed(argument: str) -> Spec:
    """Parse an argument path: `edits[].newText` is `("edits", None, "newText")`."""
    steps: list[str | int | None] = []
    for word in argument.split(".") if argument else ():
        name = word.rstrip("[]")
        steps += [name] if name else []
        steps += [None] * word.count("[]")
    return tuple(steps)


def covers(spec: Spec, path: Spec) -> bool:
    """Say whether `path` is a place that `spec` means."""
    return len(spec) == len(path) and all(
        not isinstance(there, str) if step is None else step == there
        for step, there in zip(spec, path, strict=True)
    )


def bound(spec: Spec, path: ArgumentPath) -> Spec:
    """Fix the list positions of `spec` to those of `path`, as far as both go the same way."""
    steps: list[str | int | None] = []
    together = True
    for at, step in enumerate(spec):
        there = path[at] if together and at < len(path) else None
        steps.append(there if step is None and isinstance(there, int) else step)
        together = together and steps[-1] == there
    return tuple(steps)


_PATH_KEYS = (
    "path",
    "file_path",
    "filePath",
    "filepath",
    "filename",
    "file",
    "target_file",
    "uri",
)
_EDIT_KEYS = (
    "new_string",
    "newString",
    "new_str",
    "new_text",
    "newText",
    "replacement_text",
    "replace",
    "newCode",
    "changes",
)
_OLD_KEYS = ("old_string", "oldString", "old_str", "old_text", "oldText")
_PATCH_KEYS = ("patch", "patchText", "diff", "input", "")
_SNIFFED = (PatchFormat.ENVELOPE, PatchFormat.UNIFIED, PatchFormat.SEARCH_REPLACE)

LIKELY_SOURCE: tuple[ToolFamily, ...] = (
    ToolFamily(
        tools=(),
        canonical=("write",),
        paths=(*_PATH_KEYS, *(f"files[].{key}" for key in _PATH_KEYS)),
        added=("content", "contents", "file_text", "files[].content", "files[].contents"),
    ),
    ToolFamily(
        tools=(),
        canonical=("edit",),
        paths=(*_PATH_KEYS, *(f"edits[].{key}" for key in _PATH_KEYS)),
        added=(*_EDIT_KEYS, *(f"edits[].{key}" for key in _EDIT_KEYS)),
        removed=(*_OLD_KEYS, *(f"edits[].{key}" for key in _OLD_KEYS)),
    ),
    ToolFamily(tools=(), canonical=(), paths=_PATH_KEYS, added=("after", "code", "text")),
)
"""Arguments that carry new source in most tools that have them."""

HEURISTIC: tuple[ToolFamily, ...] = (
    *LIKELY_SOURCE,
    ToolFamily(
        tools=(),
        canonical=("edit",),
        paths=_PATH_KEYS,
        patches=tuple(PatchArgument(key, shape) for key in _PATCH_KEYS for shape in _SNIFFED),
    ),
)
"""What is tried on a tool that no family lists, or whose arguments no family explains."""
