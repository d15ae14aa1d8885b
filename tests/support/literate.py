"""Literate rule tests: prose with fenced snippets that must hit a rule, or must not.

A fence's info string names the language, the file that the snippet is written to, and `hit` or
`no-hit`; behind a hit, `also=a,b` names the other bundled rules that the snippet hits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proxy.workspace import BUILTINS
from rules_engine.frontmatter import parse_rule
from rules_engine.globs import path_candidates
from rules_engine.rule import BUILTIN, Origin, Rule
from rules_engine.ruleset import LiveRule, RuleSet, RuleSetOptions, build
from rules_engine.scope import Surface
from rules_engine.triggers.structure import language_of

PAGES = Path(__file__).parent.parent / "rules"

_FENCE = re.compile(
    r"^```\w+ (?P<file>\S+) (?P<marker>hit|no-hit)(?: also=(?P<also>\S+))?\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """One fenced snippet; `line`: where its fence stands on the page of its rule."""

    rule: str
    line: int
    file: str
    hits: bool
    also: frozenset[str]
    text: str

    def __str__(self) -> str:
        return f"{self.rule}-{self.line}"


def snippets(page: Path) -> list[Snippet]:
    """Read one page; a fence that is no snippet is an error, so that none is passed over."""
    text = page.read_text(encoding="utf-8")
    found = [
        Snippet(
            rule=page.stem,
            line=text.count("\n", 0, match.start()) + 1,
            file=match["file"],
            hits=match["marker"] == "hit",
            also=frozenset((match["also"] or "").split(",")) - {""},
            text=match["text"],
        )
        for match in _FENCE.finditer(text)
    ]
    fences = len(re.findall(r"^```", text, re.MULTILINE))
    assert fences == 2 * len(found), f"{page.name}: {fences} fences, {len(found)} snippets"
    return found


@cache
def bundled() -> RuleSet:
    """Build the bundled rules under default settings."""
    rules: list[Rule] = []
    problems = []
    for file in sorted(BUILTINS.glob("*.md")):
        shown = f"{BUILTIN}:{file.name}"
        rule, found = parse_rule(
            file.read_bytes(), file.stem, shown, BUILTIN, origin=Origin.BUILTIN
        )
        assert rule is not None, found
        rules.append(rule)
        problems += found
    return build(rules, RuleSetOptions(), problems)


def matched(file: str, text: str, tool: str = "write") -> set[str]:
    """Name the bundled rules that hit source which a tool adds to a file."""
    return set(_matched(bundled().live, file, text, tool))


def _matched(rules: Iterable[LiveRule], file: str, text: str, tool: str) -> Iterable[str]:
    candidates = path_candidates(file, None)
    language = language_of(file)
    for live in rules:
        if live.rule.watches(Surface.TOOL, (tool,), candidates) and (
            any(pattern.final(text, 0) for pattern in live.patterns)
            or any(structure.matches(text, language) for structure in live.structures)
        ):
            yield live.rule.name
