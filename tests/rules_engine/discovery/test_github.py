from __future__ import annotations

import pytest

from rules_engine.discovery import MOST_FILES, Roots, TreeEntry, Unread, discover
from rules_engine.discovery.github import PROVIDER
from rules_engine.globs import Glob
from rules_engine.problems import Code, Problem
from rules_engine.rule import Rule
from tests.support.trees import DictTree

FOLDER = "/w/.github/instructions"


def load(frontmatter: str) -> tuple[Rule, tuple[Problem, ...]]:
    tree = DictTree({f"{FOLDER}/a.instructions.md": f"---\n{frontmatter}\n---\nx"})
    rules, problems = discover(tree, Roots(workspace="/w"), [PROVIDER])
    return rules[0], problems


@pytest.mark.case(56)
@pytest.mark.parametrize("value", ['"**"', "'*'", '"**/*"', '["**", "*.ts"]', '"*.ts,**"'])
def test_github_apply_to_everything_is_always_apply(value: str) -> None:
    """Every file means always, without globs."""
    rule, problems = load(f"applyTo: {value}\nglobs: a.ts")
    assert (rule.always_apply, rule.globs, problems) == (True, (), ())


@pytest.mark.case(57)
@pytest.mark.parametrize("value", ['"**/*.ts,**/*.tsx"', "['**/*.ts, **/*.tsx']"])
def test_github_apply_to_gives_globs_and_a_description(value: str) -> None:
    """A missing description names the globs; a given one stays."""
    rule, problems = load(f"applyTo: {value}\nalwaysApply: true")
    assert rule.globs == (Glob("**/*.ts"), Glob("**/*.tsx"))
    assert (rule.always_apply, problems) == (False, ())
    assert rule.description == "Instructions for **/*.ts, **/*.tsx"
    assert load(f"applyTo: {value}\ndescription: d")[0].description == "d"


@pytest.mark.case(58)
def test_github_without_apply_to_is_offered_by_name() -> None:
    """A description is made up, and that is a problem; a trigger needs neither."""
    rule, problems = load("other: 1")
    assert rule.description == "Instructions of .github/instructions/a.instructions.md"
    assert [problem.code for problem in problems] == [Code.MISSING_APPLY_TO]
    assert load("condition: x")[1] == ()


@pytest.mark.case(60)
def test_github_recurses_and_names_by_the_base_name() -> None:
    """Nested instructions are rules; other Markdown is none."""
    tree = DictTree(
        {
            f"{FOLDER}/z.instructions.md": "x",
            f"{FOLDER}/deep/er/y.instructions.md": "x",
            f"{FOLDER}/readme.md": "no",
            "/c/.github/instructions/k.instructions.md": "x",
        }
    )
    rules, _ = discover(tree, Roots(workspace="/w", copilot_dirs=("/c",)), [PROVIDER])
    assert [rule.name for rule in rules] == ["y", "z", "k"]


def test_github_stops_at_a_depth_and_a_number() -> None:
    """Neither a deep nor a huge tree keeps discovery busy."""
    deep = DictTree({FOLDER + "/d" * 40 + "/a.instructions.md": "x"})
    assert discover(deep, Roots(workspace="/w"), [PROVIDER]) == ((), ())
    huge = DictTree({f"{FOLDER}/{each:05}.instructions.md": "" for each in range(MOST_FILES + 1)})
    found = list(PROVIDER.find(huge, Roots(workspace="/w")))
    assert len(found) == MOST_FILES + 1


def test_github_reports_a_bad_link() -> None:
    """What cannot be followed is a problem, and the walk goes on."""

    class Linked(DictTree):
        def list(self, directory: str) -> tuple[tuple[TreeEntry, ...], tuple[Unread, ...]]:
            entries, _ = super().list(directory)
            return entries, (Unread(Code.BAD_LINK, f"{directory}/x"),)

    tree = Linked({f"{FOLDER}/a.instructions.md": "---\ncondition: x\n---\nx"})
    rules, problems = discover(tree, Roots(workspace="/w"), [PROVIDER])
    assert len(rules) == 1
    assert [problem.file for problem in problems] == [".github/instructions/x"]
