"""The nearest `.clinerules` above the workspace: a directory of rules, or one rule."""

from __future__ import annotations

import posixpath

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
        path = posixpath.join(directory, _NAME)
        kind = tree.kind(path)
        if kind is Kind.DIRECTORY:
            yield from rules_in(tree, path, Origin.PROJECT, (".md",))
        elif kind is Kind.FILE:
            yield Candidate(path, "clinerules", Origin.PROJECT)
        if kind:
            return


PROVIDER = Provider("cline", 40, _find)
