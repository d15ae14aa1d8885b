from __future__ import annotations

import pytest

from rules_engine.frontmatter.fields import Fields
from rules_engine.frontmatter.triggers import (
    looks_like_glob,
    read_conditions,
    read_scope,
    read_structures,
)
from rules_engine.frontmatter.values import Entry
from rules_engine.globs import Glob
from rules_engine.problems import Code
from rules_engine.rule import CATCH_ALL
from rules_engine.scope import DEFAULT_SCOPE, ScopeToken, Surface


def fields(**values: object) -> Fields:
    return Fields({key: Entry(value, 0) for key, value in values.items()}, "r.md", 2)


def path_tokens(path: str) -> tuple[ScopeToken, ...]:
    return tuple(ScopeToken(Surface.TOOL, tool, Glob(path)) for tool in ("edit", "write"))


@pytest.mark.case(9)
def test_conditions_have_legacy_spellings() -> None:
    """`ttsr_trigger` and `ttsrTrigger` count where `condition` is absent or null."""
    assert read_conditions(fields(ttsrTrigger="x")).patterns == ("x",)
    assert read_conditions(fields(condition=None, ttsr_trigger="x")).patterns == ("x",)


@pytest.mark.case(10)
def test_conditions_prefer_the_present_spelling() -> None:
    """With both, only `condition` counts."""
    assert read_conditions(fields(condition="a", ttsr_trigger="b")).patterns == ("a",)


@pytest.mark.case(11)
def test_conditions_are_trimmed_and_deduplicated() -> None:
    """Blank and repeated entries vanish; commas and quotes are part of a pattern."""
    read = fields(condition=[" a ", "a", " ", 'import "b", c'])
    assert read_conditions(read).patterns == ("a", 'import "b", c')
    assert read_conditions(fields(condition="a, b")).patterns == ("a, b",)


@pytest.mark.case(28)
def test_conditions_with_a_path_among_patterns_add_scope_alone() -> None:
    """A path beside a real pattern never makes the rule fire on everything."""
    read = fields(condition=["*.ts", "TODO"])
    conditions = read_conditions(read)
    assert conditions.patterns == ("TODO",)
    assert not conditions.catch_all
    assert conditions.tokens == path_tokens("*.ts")
    assert [problem.code for problem in read.problems] == [Code.GLOB_CONDITION]


@pytest.mark.case(29)
def test_conditions_of_paths_alone_catch_all() -> None:
    """A path alone is an edit and a write scope with a pattern that takes any content."""
    conditions = read_conditions(fields(condition="*.env"))
    assert (conditions.patterns, conditions.catch_all) == ((CATCH_ALL,), True)
    assert conditions.tokens == path_tokens("*.env")


def test_conditions_report_a_malformed_path() -> None:
    """Such a path is a token that matches nothing, and a problem."""
    read = fields(condition="src/{a")
    read_conditions(read)
    assert [problem.code for problem in read.problems] == [Code.GLOB_CONDITION, Code.BAD_GLOB]


@pytest.mark.case(30)
@pytest.mark.parametrize(
    ("condition", "path"),
    [
        ("*.env", True),
        ("src/*.ts", True),
        ("api/v[12]", True),
        ("*.{ts,tsx}", True),
        ("src/", False),
        ("colou?r", False),
        ("foo.*bar", False),
        (".*", False),
        ("io/ioutil", False),
        ("a|b/*", False),
        ("*. x", False),
    ],
)
def test_looks_like_glob(condition: str, *, path: bool) -> None:
    """A path has a wildcard and a slash, or is `*.` and an ending; no pattern characters."""
    assert looks_like_glob(condition) is path


def test_scope_is_the_default_where_none_is_declared() -> None:
    """Paths among the conditions replace the default scope; a declared one is kept before them."""
    added = path_tokens("*.ts")
    assert read_scope(fields(), (), "r.md") == DEFAULT_SCOPE
    assert read_scope(fields(scope=None), (), "r.md") == DEFAULT_SCOPE
    assert read_scope(fields(), added, "r.md") == added
    assert read_scope(fields(scope="text"), added, "r.md") == (ScopeToken(Surface.TEXT), *added)


@pytest.mark.parametrize("scope", ["", [], "nonsense(", 5, ["a b"]])
def test_scope_that_reaches_nothing_is_a_problem(scope: object) -> None:
    """An empty or unreadable scope is never widened to the default."""
    read = fields(scope=scope)
    assert read_scope(read, (), "r.md") == ()
    assert Code.UNREACHABLE_SCOPE in [problem.code for problem in read.problems]


def test_structures_keep_patterns_verbatim() -> None:
    """Patterns are neither trimmed nor rewritten, only deduplicated."""
    assert read_structures(fields(astCondition=[" $A ", " $A ", "*.ts", ""])) == (" $A ", "*.ts")
    assert read_structures(fields(astCondition="$A, $B")) == ("$A, $B",)
    assert read_structures(fields()) == ()


def test_structures_wrap_rule_objects() -> None:
    """An object with `rule` is a whole core; any other is the rule of one."""
    core = {
        "rule": {"kind": "x", "stop-by": "end"},
        "utils": {"my-util": {"any": [{"stop-by": "end"}]}},
    }
    assert read_structures(fields(astCondition=[{"kind": "x"}, core])) == (
        '{"rule":{"kind":"x"}}',
        '{"rule":{"kind":"x","stopBy":"end"},"utils":{"my-util":{"any":[{"stopBy":"end"}]}}}',
    )


def test_structures_report_other_types() -> None:
    """A number is no structure."""
    read = fields(astCondition=[3])
    assert read_structures(read) == ()
    assert [problem.code for problem in read.problems] == [Code.WRONG_TYPE]
