"""`.agent/rules` and `.agents/rules`, from the workspace up to its repository's root, then home."""

from __future__ import annotations

from rules_engine.discovery import Found, Provider, Roots, Tree, rules_in, up_to_repository
from rules_engine.rule import Origin


def _find(tree: Tree, roots: Roots) -> Found:
    walked = up_to_repository(tree, roots.workspace) if roots.workspace else ()
    places = [(directory, Origin.PROJECT) for directory in walked if directory != roots.home]
    places += [(roots.home, Origin.USER)] if roots.home else []
    for directory, origin in places:
        for folder in (".agent", ".agents"):
            yield from rules_in(tree, f"{directory}/{folder}/rules", origin)


PROVIDER = Provider("agents", 70, _find)
