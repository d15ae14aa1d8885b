from __future__ import annotations

from rules_engine.discovery import Roots, discover
from rules_engine.discovery.claude import PROVIDER
from rules_engine.globs import Glob
from rules_engine.problems import Code
from tests.support.trees import DictTree

PATH = "/w/.claude/rules/a.md"


def test_claude_reads_paths_as_globs() -> None:
    """`paths` gates by file unless `globs` does."""
    for written, globs in (
        ("paths: src/**/*.ts, lib/*", ("src/**/*.ts", "lib/*")),
        ("paths: [a.ts]", ("a.ts",)),
        ("paths: [a.ts]\nglobs: b.ts", ("b.ts",)),
        ("description: d", ()),
    ):
        tree = DictTree({PATH: f"---\n{written}\n---\nx"})
        rules, problems = discover(tree, Roots(workspace="/w"), [PROVIDER])
        assert rules[0].globs == tuple(Glob(glob) for glob in globs)
        assert problems == ()


def test_claude_reports_a_malformed_path() -> None:
    """The problem names the field."""
    tree = DictTree({PATH: "---\npaths: ['{a']\n---\nx"})
    _, problems = discover(tree, Roots(workspace="/w"), [PROVIDER])
    assert [(problem.code, problem.field) for problem in problems] == [(Code.BAD_GLOB, "paths")]
