"""`rules/` in every configured plugin root."""

from __future__ import annotations

from rules_engine.discovery import Found, Provider, Roots, Tree, rules_in
from rules_engine.rule import Origin


def _find(tree: Tree, roots: Roots) -> Found:
    for root in roots.plugin_roots:
        yield from rules_in(tree, f"{root}/rules", Origin.PLUGIN)


PROVIDER = Provider("omp-plugins", 90, _find)
