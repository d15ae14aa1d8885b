"""The bundled rules; every other convention comes before them."""

from __future__ import annotations

from dataclasses import replace

from rules_engine.discovery import Candidate, Found, Provider, Roots, Tree, rules_in
from rules_engine.rule import BUILTIN, Origin


def _find(tree: Tree, roots: Roots) -> Found:
    for found in rules_in(tree, roots.builtins, Origin.BUILTIN) if roots.builtins else ():
        if isinstance(found, Candidate):
            file = found.path.rpartition("/")[2]
            yield replace(found, shown=f"{BUILTIN}:{file}")
        else:
            yield found


PROVIDER = Provider(BUILTIN, 1, _find)
