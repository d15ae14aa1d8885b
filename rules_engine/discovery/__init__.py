"""Finds rule files by convention: pure functions over a `Tree`; one file a convention.

A convention's file defines `PROVIDER`. Paths are absolute, with slashes; nothing is ever written.
"""

from __future__ import annotations

import importlib
import pkgutil
import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from rules_engine.frontmatter import Adapt, parse_rule
from rules_engine.problems import Code, Problem
from rules_engine.rule import Origin, Rule

MOST_FILES = 1000
RULE_FILES = (".md", ".mdc")


class Kind(StrEnum):
    """What a directory entry is once links are followed."""

    FILE = "file"
    DIRECTORY = "directory"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One entry of a directory."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a path gave nothing: a code that discovery reports at that path."""

    code: Code
    path: str
    detail: str = ""


class Tree(Protocol):
    """The files that discovery may see. No method raises."""

    def list(self, directory: str) -> tuple[tuple[TreeEntry, ...], tuple[Unread, ...]]:
        """Entries of a directory, none where it is missing, and what could not be used."""

    def kind(self, path: str) -> Kind | None:
        """Tell what is there; None where nothing is, or nothing that may be used."""

    def read(self, path: str) -> bytes | Unread:
        """Read a whole file; at least one byte more than a rule may have is enough."""


@dataclass(frozen=True, slots=True)
class Roots:
    """Where conventions begin. `workspace` None: a mere label, so only the user's rules.

    `user_rules_dir` holds `rules/` and a sticky `RULES.md`; `builtins` holds the bundled rules.
    """

    home: str | None = None
    workspace: str | None = None
    user_rules_dir: str | None = None
    dsh_home: str | None = None
    plugin_roots: tuple[str, ...] = ()
    copilot_dirs: tuple[str, ...] = ()
    builtins: str | None = None

    def shown(self, path: str) -> str:
        """Relative to the workspace, else `~/…`; never an absolute path below home."""
        for root, prefix in ((self.workspace, ""), (self.home, "~/")):
            if root and root != "/" and path.startswith(f"{root}/"):
                return prefix + path[len(root) + 1 :]
        return path


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that is a rule by its place. `shown`: its path where that is not derived."""

    path: str
    name: str
    origin: Origin
    shown: str | None = None
    adapt: Adapt | None = None


Found = Iterable[Candidate | Unread]


@dataclass(frozen=True, slots=True)
class Provider:
    """One convention: higher priority claims names first. `find` gives candidates in order."""

    name: str
    priority: int
    find: Callable[[Tree, Roots], Found]


def collect() -> tuple[Provider, ...]:
    """Every convention of this folder, the most specific first, equals by name."""
    found: list[Provider] = [
        importlib.import_module(f"{__name__}.{module.name}").PROVIDER
        for module in pkgutil.iter_modules(__path__)
    ]
    return tuple(sorted(found, key=lambda provider: (-provider.priority, provider.name)))


class Parse(Protocol):
    """What `parse_rule` is: a caller may pass one that remembers."""

    def __call__(
        self,
        text: bytes,
        name: str,
        path: str,
        convention: str,
        *,
        origin: Origin,
        adapt: Adapt | None,
    ) -> tuple[Rule | None, tuple[Problem, ...]]:
        """Read one file to a rule, or None where it is none, and its problems."""


def discover(
    tree: Tree,
    roots: Roots,
    providers: Iterable[Provider] | None = None,
    parse: Parse = parse_rule,
) -> tuple[tuple[Rule, ...], tuple[Problem, ...]]:
    """Give all rules in precedence order, those with a taken name included, and the problems.

    A file that is unreadable, empty or switched off by itself claims no name.
    """
    rules: list[Rule] = []
    problems: list[Problem] = []
    for provider in collect() if providers is None else providers:
        for found in provider.find(tree, roots):
            rule, faults = _load(tree, roots, provider.name, found, parse)
            problems += faults
            if rule:
                rules.append(rule)
    return tuple(rules), tuple(dict.fromkeys(problems))


def _load(
    tree: Tree, roots: Roots, convention: str, found: Candidate | Unread, parse: Parse
) -> tuple[Rule | None, tuple[Problem, ...]]:
    if isinstance(found, Unread):
        return None, (_report(roots, found),)
    content = tree.read(found.path)
    if isinstance(content, Unread):
        return None, (_report(roots, content),)
    shown = found.shown or roots.shown(found.path)
    rule, problems = parse(
        content, found.name, shown, convention, origin=found.origin, adapt=found.adapt
    )
    if rule and not rule.enabled:
        return None, (*problems, Problem(Code.SWITCHED_OFF, shown, "enabled"))
    return rule, problems


def _report(roots: Roots, unread: Unread) -> Problem:
    return Problem(unread.code, roots.shown(unread.path), detail=unread.detail)


def rules_in(
    tree: Tree,
    directory: str,
    origin: Origin,
    endings: tuple[str, ...] = RULE_FILES,
    adapt: Adapt | None = None,
) -> Iterator[Candidate | Unread]:
    """Rule files directly in a directory, by name; hidden ones are left out."""
    entries, unread = tree.list(directory)
    yield from (each for each in unread if each.path == directory or each.path.endswith(endings))
    files = sorted(
        entry.name
        for entry in entries
        if entry.kind is Kind.FILE and entry.name.endswith(endings) and entry.name[0] != "."
    )
    if len(files) > MOST_FILES:
        yield Unread(Code.TOO_MANY, directory, f"{len(files)} files, {MOST_FILES} are read")
    for name in files[:MOST_FILES]:
        stem, _ = posixpath.splitext(name)
        yield Candidate(posixpath.join(directory, name), stem, origin, adapt=adapt)


def ancestors(directory: str) -> Iterator[str]:
    """Yield the directory itself and each one above it, up to the root of the file system."""
    while True:
        yield directory
        above = posixpath.dirname(directory)
        if above in (directory, ""):
            return
        directory = above


def up_to_repository(tree: Tree, workspace: str) -> tuple[str, ...]:
    """Give the workspace and what is above it up to its repository's root, else itself alone."""
    passed: list[str] = []
    for directory in ancestors(workspace):
        passed.append(directory)
        if tree.kind(posixpath.join(directory, ".git")):
            return tuple(passed)
    return (workspace,)
