"""The nearest `.clinerules` above the workspace: a directory of rules, or one rule."""

from __future__ import annotations

from rules_engine.discovery import (
    Candidate,
    Found,
    Kind,
    Provider,
    Roots,
    Tree,
    ancestors,
    rules_in,
)
from rules_engine.rule import Origin

_NAME = ".clinerules"


def _find(tree: Tree, roots: Roots) -> Found:
    for directory in ancestors(roots.workspace) if roots.workspace else ():
        entries, _ = tree.list(directory)
        kind = next((entry.kind for entry in entries if entry.name == _NAME), None)
        if kind is Kind.DIRECTORY:
            yield from rules_in(tree, f"{directory}/{_NAME}", Origin.PROJECT, (".md",))
        elif kind is Kind.FILE:
            yield Candidate(f"{directory}/{_NAME}", "clinerules", Origin.PROJECT)
        if kind:
            return


PROVIDER = Provider("cline", 40, _find)
