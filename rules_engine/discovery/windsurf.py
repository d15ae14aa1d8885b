"""`.windsurf/rules` of the project, and the user's one file of global rules."""

from __future__ import annotations

from rules_engine.discovery import (
    Candidate,
    Found,
    Kind,
    Provider,
    Roots,
    Tree,
    has_entry,
    rules_in,
)
from rules_engine.rule import Origin


def _find(tree: Tree, roots: Roots) -> Found:
    if roots.workspace:
        yield from rules_in(tree, f"{roots.workspace}/.windsurf/rules", Origin.PROJECT, (".md",))
    memories = f"{roots.home}/.codeium/windsurf/memories"
    if roots.home and has_entry(tree, memories, "global_rules.md", Kind.FILE):
        yield Candidate(f"{memories}/global_rules.md", "global_rules", Origin.USER)


PROVIDER = Provider("windsurf", 50, _find)
