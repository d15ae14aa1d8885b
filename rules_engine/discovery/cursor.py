"""`.cursor/rules` of the project and of the user."""

from __future__ import annotations

from rules_engine.discovery import Found, Provider, Roots, Tree, rules_in
from rules_engine.rule import Origin


def _find(tree: Tree, roots: Roots) -> Found:
    for root, origin in ((roots.workspace, Origin.PROJECT), (roots.home, Origin.USER)):
        if root:
            yield from rules_in(tree, f"{root}/.cursor/rules", origin)


PROVIDER = Provider("cursor", 50, _find)
