"""`.omp/rules` and `.dsh/rules`, the user's own of both, and the sticky `RULES.md` files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rules_engine.discovery import (
    Candidate,
    Found,
    Kind,
    Provider,
    Roots,
    Tree,
    rules_in,
    up_to_repository,
)
from rules_engine.frontmatter.fields import Fields
from rules_engine.rule import Origin, Rule

_STICKY = "RULES.md"


def _find(tree: Tree, roots: Roots) -> Found:
    if roots.workspace:
        yield from rules_in(tree, f"{roots.workspace}/.omp/rules", Origin.PROJECT)
        yield from rules_in(tree, f"{roots.workspace}/.dsh/rules", Origin.PROJECT)
    for directory in (roots.user_rules_dir, roots.dsh_home):
        if directory:
            yield from rules_in(tree, f"{directory}/rules", Origin.USER)
    if roots.user_rules_dir:
        yield from _sticky(tree, roots.user_rules_dir, "RULES", Origin.USER)
    if roots.workspace:
        yield from _project_sticky(tree, roots.workspace)


def _project_sticky(tree: Tree, workspace: str) -> Iterator[Candidate]:
    """Look in the nearest `.omp` that holds anything, and in no other."""
    for directory in up_to_repository(tree, workspace):
        entries, _ = tree.list(f"{directory}/.omp")
        if entries:
            yield from _sticky(tree, f"{directory}/.omp", "RULES@project", Origin.PROJECT)
            return


def _sticky(tree: Tree, directory: str, name: str, origin: Origin) -> Iterator[Candidate]:
    if tree.kind(f"{directory}/{_STICKY}") is Kind.FILE:
        yield Candidate(f"{directory}/{_STICKY}", name, origin, adapt=_always)


def _always(rule: Rule, _fields: Fields) -> Rule:
    return replace(rule, always_apply=True)


PROVIDER = Provider("native", 100, _find)
