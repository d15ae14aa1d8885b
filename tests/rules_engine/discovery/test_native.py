from __future__ import annotations

import pytest

from rules_engine.discovery import Roots, discover
from rules_engine.discovery.native import PROVIDER
from rules_engine.problems import Code
from rules_engine.rule import Rule
from tests.support.trees import DictTree

ROOTS = Roots(home="/h", workspace="/r/p", user_rules_dir="/h/.omp/agent", dsh_home="/h/.dsh")


def found(files: dict[str, str]) -> list[Rule]:
    return list(discover(DictTree(files), ROOTS, [PROVIDER])[0])


def test_native_reads_both_endings_by_name() -> None:
    """`.md` and `.mdc` are rules, named without the ending and sorted."""
    files = {f"/r/p/.omp/rules/{name}": "x" for name in ("b.mdc", "a.md", "a.b.md")}
    assert [rule.name for rule in found(files)] == ["a.b", "a", "b"]


@pytest.mark.case(53)
def test_native_sticky_files_have_names_of_their_own() -> None:
    """The user's is `RULES`, the project's `RULES@project`; both apply."""
    rules = found({"/h/.omp/agent/RULES.md": "u", "/r/p/.omp/RULES.md": "p"})
    assert [(rule.name, rule.body, rule.always_apply) for rule in rules] == [
        ("RULES", "u", True),
        ("RULES@project", "p", True),
    ]


@pytest.mark.case(54)
def test_native_sticky_file_always_applies() -> None:
    """Its frontmatter cannot say otherwise."""
    rules = found({"/h/.omp/agent/RULES.md": "---\nalwaysApply: false\n---\nx"})
    assert [rule.always_apply for rule in rules] == [True]


@pytest.mark.case(55)
def test_native_empty_sticky_file_is_no_rule() -> None:
    """It is a problem like any rule without a text."""
    rules, problems = discover(DictTree({"/r/p/.omp/RULES.md": " "}), ROOTS, [PROVIDER])
    assert rules == ()
    assert [problem.code for problem in problems] == [Code.EMPTY_BODY]


def test_native_project_sticky_is_looked_for_up_to_the_repository() -> None:
    """A missing `.omp` does not end the walk; the repository's root does."""
    assert [rule.path for rule in found({"/r/.git/HEAD": "", "/r/.omp/RULES.md": "x"})] == [
        "/r/.omp/RULES.md"
    ]
    assert found({"/r/p/.git": "", "/r/.omp/RULES.md": "x"}) == []


def test_native_project_sticky_is_that_of_the_nearest_directory() -> None:
    """Where the nearest `.omp` that holds anything has none, there is none."""
    files = {"/r/.git/HEAD": "", "/r/.omp/RULES.md": "x", "/r/p/.omp/other": ""}
    assert found(files) == []
