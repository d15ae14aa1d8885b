"""`docs/rules.md` says what the code does: its tables, its lists, its rules and their samples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import pytest
import yaml

from proxy.config import Settings, load
from proxy.trial import Ground, Output, deed, observe
from rules_engine.frontmatter import parse_rule
from rules_engine.frontmatter.fields import KNOWN
from rules_engine.problems import Severity
from rules_engine.rule import Bucket, ContextMode, InterruptMode, RepeatMode
from rules_engine.ruleset import RuleSet, RuleSetOptions, build
from rules_engine.scope import Surface, parse_scope
from rules_engine.triggers.structure import StructureTrigger, compile_structure
from tests.support import made_tables, rule_docs

PAGE = rule_docs.PAGE.read_text(encoding="utf-8")
PLACES = {"text": Surface.TEXT, "thinking": Surface.THINKING}


def section(heading: str) -> str:
    found = PAGE.partition(f"\n## {heading}\n")[2]
    assert found, heading
    return found.partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """Cells of the rows of all tables, without heads."""
    lines = [line for line in text.split("\n") if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    heads = {at - 1 for at, row in enumerate(cells) if row[0] == "---"}
    return [row for at, row in enumerate(cells) if at not in heads and row[0] != "---"]


def spans(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_tables_are_those_of_the_code() -> None:
    """The page is what `make docs` writes."""
    assert made_tables.page(PAGE, rule_docs.TABLES) == PAGE
    assert sorted(made_tables.names(PAGE)) == sorted(rule_docs.TABLES)


def test_each_field_has_a_row() -> None:
    """Every key that a file may have, in the order of the code."""
    assert [spans(row[0])[0] for row in rows(section("Fields"))] == list(KNOWN)


@pytest.mark.parametrize(
    ("field", "values"),
    [("interruptMode", InterruptMode), ("contextMode", ContextMode), ("repeatMode", RepeatMode)],
)
def test_each_value_of_a_field_is_named(field: str, values: type[StrEnum]) -> None:
    """And nothing else is."""
    (cell,) = (row[1] for row in rows(section("Fields")) if spans(row[0]) == [field])
    assert spans(cell) == [str(value) for value in values]


def test_each_bucket_is_named() -> None:
    """In the order in which a rule is tried for them."""
    text = section("What becomes of a rule").partition("\n<!--")[0]
    assert [spans(row[0])[0] for row in rows(text)] == [str(bucket) for bucket in Bucket]


def test_each_severity_is_named() -> None:
    """What it means that a problem is one."""
    text = section("Problems").partition("\n<!--")[0]
    assert set(Severity) <= set(spans(text))


def test_each_mode_is_told() -> None:
    """The table of modes has every one of them."""
    text = section("What a hit does").partition("\n### ")[0]
    assert {spans(row[0])[0] for row in rows(text)} == set(InterruptMode)


def test_scope_tokens_of_the_page_are_read() -> None:
    """Each is one token without a problem; no other surface exists."""
    tokens = [token for row in rows(section("Scope")) for token in spans(row[0])]
    parsed = [parse_scope(token, file="") for token in tokens]
    assert not [problem for _, problems in parsed for problem in problems]
    assert {token.surface for found, _ in parsed for token in found} == set(Surface)


def test_structures_of_the_page_are_read() -> None:
    """Patterns and rule objects in the example compile."""
    text = section("Structures").partition("```yaml\n")[2].partition("```")[0]
    example = f"---\n{text}\nscope: tool:edit(*.ts)\n---\nx"
    rule, problems = parse_rule(example, "a", "a.md", "native")
    assert rule is not None
    assert problems == ()
    assert len(rule.ast_conditions) == len(yaml.safe_load(text)["astCondition"])
    compiled = [compile_structure(each) for each in rule.ast_conditions]
    assert all(isinstance(each, StructureTrigger) for each in compiled)


# ---- the cookbook


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, where a model writes it (a surface, a tool or a file), and what becomes of it."""

    rule: str
    place: str
    end: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}-{self.place}-{self.end}"

    def outputs(self) -> Iterator[Output]:
        if self.place in PLACES:
            yield Output(self.text, PLACES[self.place])
        elif self.place == "bash":
            yield Output(self.text, Surface.TOOL, "bash")
        else:
            for tool in ("write", "edit"):
                yield Output(self.text, Surface.TOOL, tool, self.place)


RECIPES = dict(
    re.findall(r"\n### (\S+)\.md\n.*?\n```markdown\n(.*?)```\n", section("Cookbook"), re.DOTALL)
)
_SAMPLE = re.compile(r"^```\w+ (\S+) (\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SAMPLES = [
    Sample(name, *found)
    for name in RECIPES
    for found in _SAMPLE.findall(
        section("Cookbook").partition(f"\n### {name}.md\n")[2].partition("\n### ")[0]
    )
]


@cache
def built(name: str) -> RuleSet:
    rule, problems = parse_rule(RECIPES[name], name, f".omp/rules/{name}.md", "native")
    assert rule is not None
    return build((rule,), RuleSetOptions(), problems)


@cache
def ground() -> Ground:
    settings: Settings = load(environ={}, need_upstream=False).settings
    return Ground.of(settings)


def test_cookbook_has_ten_rules() -> None:
    """No heading without a rule."""
    assert len(RECIPES) == section("Cookbook").count("\n### ") == 10


@pytest.mark.parametrize("name", RECIPES)
def test_rule_of_the_cookbook_is_in_force_without_a_problem(name: str) -> None:
    """Nothing is wrong with it, not even a note, and it has a text on both sides."""
    assert built(name).problems == ()
    assert [live.rule.name for live in built(name).live] == [name]
    ends = [sample.end for sample in SAMPLES if sample.rule == name]
    assert "nothing" in ends
    assert {*ends} - {"nothing"}


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_rule_of_the_cookbook_does_what_the_page_says(sample: Sample) -> None:
    """In a real turn, whichever tool writes the file."""
    (live,) = built(sample.rule).live
    for output in sample.outputs():
        assert (deed(live, output, ground()) or "nothing") == sample.end
        hits = observe(built(sample.rule), output, ground()).hits
        assert bool(hits) == (sample.end != "nothing")


def test_first_example_is_a_rule() -> None:
    """What a reader copies first works."""
    text = PAGE.partition("```markdown\n")[2].partition("```")[0]
    rule, problems = parse_rule(text, "no-any", "no-any.md", "native")
    assert rule is not None
    assert build((rule,), RuleSetOptions(), problems).problems == ()
