"""`.claude/rules` of the project and of the user; `paths` there means what `globs` means."""

from __future__ import annotations

from dataclasses import replace

from rules_engine.discovery import Found, Provider, Roots, Tree, rules_in
from rules_engine.frontmatter.fields import Fields
from rules_engine.globs import parse_globs
from rules_engine.rule import Origin, Rule


def _find(tree: Tree, roots: Roots) -> Found:
    for root, origin in ((roots.workspace, Origin.PROJECT), (roots.home, Origin.USER)):
        if root:
            yield from rules_in(tree, f"{root}/.claude/rules", origin, adapt=_paths)


def _paths(rule: Rule, fields: Fields) -> Rule:
    written = None if rule.globs else fields.strings("paths")
    if not written:
        return rule
    line = fields.line("paths")
    globs, problems = parse_globs(written, file=rule.path, field="paths", line=line)
    fields.problems.extend(problems)
    return replace(rule, globs=globs)


PROVIDER = Provider("claude", 60, _find)
