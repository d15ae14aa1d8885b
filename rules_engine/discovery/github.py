"""`.github/instructions/**/*.instructions.md`, whose `applyTo` says which files they are for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rules_engine.discovery import (
    MOST_FILES,
    Candidate,
    Found,
    Kind,
    Provider,
    Roots,
    Tree,
    Unread,
)
from rules_engine.frontmatter.fields import Fields
from rules_engine.globs import Glob, parse_globs, split_commas
from rules_engine.problems import Code
from rules_engine.rule import Origin, Rule

_ENDING = ".instructions.md"
_EVERYTHING = {Glob("*"), Glob("**"), Glob("**/*")}
_DEEPEST = 16


def _find(tree: Tree, roots: Roots) -> Found:
    places = [(roots.workspace, Origin.PROJECT)] if roots.workspace else []
    places += [(directory, Origin.USER) for directory in roots.copilot_dirs]
    for root, origin in places:
        yield from _below(tree, f"{root}/.github/instructions", origin)


def _below(tree: Tree, root: str, origin: Origin) -> Found:
    count = 0
    for found in _walk(tree, root, 0):
        if isinstance(found, Unread):
            yield found
            continue
        count += 1
        if count > MOST_FILES:
            yield Unread(Code.TOO_MANY, root, f"{MOST_FILES} files are read")
            return
        name = found.rpartition("/")[2].removesuffix(_ENDING)
        yield Candidate(found, name, origin, adapt=_apply_to)


def _walk(tree: Tree, directory: str, depth: int) -> Iterator[str | Unread]:
    """Instruction files below a directory, by path."""
    entries, unread = tree.list(directory)
    yield from unread
    for entry in sorted(entries, key=lambda entry: entry.name):
        path = f"{directory}/{entry.name}"
        if entry.kind is Kind.DIRECTORY and depth < _DEEPEST:
            yield from _walk(tree, path, depth + 1)
        elif entry.kind is Kind.FILE and entry.name.endswith(_ENDING):
            yield path


def _apply_to(rule: Rule, fields: Fields) -> Rule:
    """Make `applyTo` globs, or always-apply where it means every file (oh-my-pi)."""
    written = fields.strings("applyTo") or ()
    parts = (written,) if isinstance(written, str) else written
    split = tuple(piece for part in parts for piece in split_commas(part))
    line = fields.line("applyTo")
    globs, problems = parse_globs(split, file=rule.path, field="applyTo", line=line)
    fields.problems.extend(problems)
    if not globs:
        if not rule.has_trigger:
            fields.report(Code.MISSING_APPLY_TO, "applyTo")
        description = rule.description or f"Instructions of {rule.path}"
        return replace(rule, description=description)
    if _EVERYTHING & set(globs):
        return replace(rule, always_apply=True, globs=())
    described = ", ".join(glob.pattern for glob in globs)
    description = rule.description or f"Instructions for {described}"
    return replace(rule, always_apply=False, globs=globs, description=description)


PROVIDER = Provider("github", 30, _find)
