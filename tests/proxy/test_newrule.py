from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import CannotRun
from proxy.inventory import Inventory
from proxy.newrule import Draft, faults, refused_name, render, write
from rules_engine.frontmatter import parse_rule
from rules_engine.rule import InterruptMode
from rules_engine.ruleset import RuleSet

NOTHING = Inventory(RuleSet("", (), (), ()), (), ())
FULL = Draft(
    "foo",
    "Say it kindly.",
    description="It's: a rule",
    conditions=(r"\bfoo\b", "it's # no comment"),
    structures=("console.log($A)",),
    scope=("tool:edit(*.ts)", "tool:write(*.ts)"),
    globs=("src/{a,b}/*.ts",),
    interrupt_mode=InterruptMode.NEVER,
)


def test_rule_is_read_back_as_it_was_meant() -> None:
    """Every field, whatever stands in it."""
    rule, problems = parse_rule(render(FULL), "foo", "foo.md", "native")
    assert rule is not None
    assert not problems
    assert (rule.description, rule.body) == (FULL.description, FULL.body)
    assert (rule.conditions, rule.ast_conditions) == (FULL.conditions, FULL.structures)
    assert [glob.pattern for glob in rule.globs] == list(FULL.globs)
    assert [token.tool for token in rule.scope] == ["edit", "write"]
    assert rule.interrupt_mode is InterruptMode.NEVER


TEXTS = st.text(st.characters(exclude_categories=["Cs"])).map(str.strip)


@given(TEXTS.filter(bool), TEXTS)
def test_any_text_survives_the_quoting(pattern: str, description: str) -> None:
    """Quotes, backslashes, line ends and what YAML finds special."""
    draft = Draft("foo", "x", description, (pattern,))
    rule, _ = parse_rule(render(draft), "foo", "foo.md", "native")
    assert rule is not None
    assert rule.catch_all or rule.conditions == (pattern,)
    assert (rule.description or "") == description


@pytest.mark.parametrize(
    "name", ["", " ", "../x", "a/b", "a\\b", "..", ".hidden", "a:b", "a*", 'a"b', "a\nb", "x" * 200]
)
def test_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    """Before anything is written."""
    assert refused_name(name)
    with pytest.raises(CannotRun):
        write(Draft(name, "x", conditions=("foo",)), tmp_path / "rules", NOTHING)
    assert list(tmp_path.iterdir()) == []


def test_rule_that_would_not_work_is_not_written(tmp_path: Path) -> None:
    """The message is what lint would say."""
    with pytest.raises(CannotRun, match=r"foo\.md:3: error\[bad-pattern\]"):
        write(Draft("foo", "x", "A rule", ("a(",)), tmp_path / "rules", NOTHING)
    with pytest.raises(CannotRun, match="empty-body"):
        write(Draft("foo", " ", conditions=("a",)), tmp_path / "rules", NOTHING)
    assert list(tmp_path.iterdir()) == []
    assert faults(Draft("foo", "x", conditions=("a",))) == ()


def test_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    """Though discovery does not know it."""
    (tmp_path / "foo.md").write_text("mine")
    with pytest.raises(CannotRun, match="left as it is"):
        write(FULL, tmp_path, NOTHING)
    assert (tmp_path / "foo.md").read_text() == "mine"


def test_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """It names the file and the reason."""
    (tmp_path / "rules").write_text("a file")
    with pytest.raises(CannotRun, match="cannot be written"):
        write(FULL, tmp_path / "rules" / "below", NOTHING)


def test_rule_is_written(tmp_path: Path) -> None:
    """To a directory that is made for it."""
    path = write(FULL, tmp_path / "a" / "rules", NOTHING)
    assert path == tmp_path / "a" / "rules" / "foo.md"
    assert path.read_text() == render(FULL)
