"""`.windsurf/rules` of the project, and the user's one file of global rules."""

from __future__ import annotations

from rules_engine.discovery import (
    Candidate,
    Found,
    Kind,
    Provider,
    Roots,
    Tree,
    rules_in,
)
from rules_engine.rule import Origin


def _find(tree: Tree, roots: Roots) -> Found:
    if roots.workspace:
        yield from rules_in(tree, f"{roots.workspace}/.windsurf/rules", Origin.PROJECT, (".md",))
    path = f"{roots.home}/.codeium/windsurf/memories/global_rules.md"
    if roots.home and tree.kind(path) is Kind.FILE:
        yield Candidate(path, "global_rules", Origin.USER)


PROVIDER = Provider("windsurf", 50, _find)
