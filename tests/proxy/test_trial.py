from __future__ import annotations

import json
from pathlib import Path

import pytest

from proxy.config import Settings
from proxy.trial import Ground, Output, arguments, deed, holds_calls, observe, position, sections
from rules_engine.scope import Surface
from tests.support.rules import rule_text, ruleset

TEXT, THINKING, TOOL = Surface.TEXT, Surface.THINKING, Surface.TOOL


@pytest.fixture(scope="module")
def ground() -> Ground:
    return Ground.of(Settings.model_validate({"tools": {"Paint": {
        "family": "edit", "paths": ["canvas.file"], "source": ["strokes[].code"]}}}))  # fmt: skip


@pytest.mark.parametrize("tool", ["edit", "write", "str_replace_editor", "multi_edit", "Paint"])
def test_call_adds_the_text_to_the_file(ground: Ground, tool: str) -> None:
    """In the arguments that the tool's family names, of the settings' own tools too."""
    (section,) = sections(Output('a\n"b"\\', TOOL, tool, "src/a.ts"), ground)
    assert (section.text, section.paths) == ('a\n"b"\\', ("src/a.ts",))
    assert section.settled


def test_unknown_tool_claims_to_be_nothing_else(ground: Ground) -> None:
    """Neither edit nor write, so that only scopes that name it or every tool admit it."""
    (section,) = sections(Output("x", TOOL, "mystery", "a.ts"), ground)
    assert (section.text, section.paths) == ("x", ("a.ts",))
    assert not {"edit", "write"} & set(section.names)


def test_shell_has_no_path(ground: Ground) -> None:
    """Its family names none, so that of the command line goes nowhere."""
    assert json.loads(arguments(Output("ls", TOOL, "bash", "a.ts"), ground.families)) == {
        "command": "ls"
    }


def test_every_rule_is_observed(ground: Ground) -> None:
    """A rule that interrupts hides none that would hit behind it; one rule hits once."""
    rules = ruleset(
        loud=rule_text(condition="a", scope="text"),
        late=rule_text(condition="b$", scope="text"),
        quiet=rule_text(condition="a", interruptMode="never"),
        other=rule_text(condition="a", scope="thinking"),
    )
    hits = observe(rules, Output("a a b", TEXT), ground).hits
    assert {hit.rule.name: (hit.start, hit.end) for hit in hits} == {
        "loud": (0, 1),
        "late": (4, 5),
        "quiet": (0, 1),
    }


def test_reasoning_is_a_surface_of_its_own(ground: Ground) -> None:
    """Rules on text do not see it."""
    rules = ruleset(
        said=rule_text(condition="a", scope="text"),
        thought=rule_text(condition="a", scope="thinking"),
    )
    (hit,) = observe(rules, Output("a", THINKING), ground).hits
    assert hit.rule.name == "thought"


@pytest.mark.parametrize(
    ("output", "mode", "condition", "expected"),
    [
        (Output("x a y", TEXT), "always", "a", "interrupt"),
        (Output("x a y", TEXT), "never", "a", "reminder"),
        (Output("x a y", TEXT), "tool-only", "a", "reminder"),
        (Output("x b y", TEXT), "always", "a", None),
        (Output("x a y", TOOL, "write", "a.ts"), "always", "a", "interrupt"),
        (Output("x a", TOOL, "write", "a.ts"), "always", "a$", "refusal"),
        (Output("x a", TOOL, "write", "a.ts"), "prose-only", "a", "reminder"),
    ],
)
def test_deed_is_the_turns_own(
    ground: Ground, output: Output, mode: str, condition: str, expected: str | None
) -> None:
    """What the server would do in a new conversation."""
    (live,) = ruleset(foo=rule_text(condition=condition, interruptMode=mode)).live
    assert deed(live, output, ground) == expected


def test_structure_is_searched_as_at_a_messages_end(ground: Ground) -> None:
    """A finished call can only be refused, or told about."""
    output = Output("f(eval(x))", TOOL, "write", "a.js")
    loud, quiet = ruleset(
        loud=rule_text(astCondition="eval($A)"),
        quiet=rule_text(astCondition="eval($A)", interruptMode="never"),
    ).live
    rules = ruleset(loud=rule_text(astCondition="eval($A)"))
    (hit,) = observe(rules, output, ground).hits
    assert (hit.start, hit.end) == (2, 9)
    assert (deed(loud, output, ground), deed(quiet, output, ground)) == ("refusal", "reminder")
    assert observe(rules, Output("f(eval(x))", TOOL, "write", "a.txt"), ground).hits == ()


def test_calls_wait_where_the_rule_could_refuse_them(ground: Ground) -> None:
    """And only calls of tools that the rule admits."""
    (live,) = ruleset(foo=rule_text(condition="a", scope="tool:bash")).live
    assert holds_calls(live, Output("", TOOL, "bash"), ground)
    assert not holds_calls(live, Output("", TOOL, "grep"), ground)


def test_ground_is_the_workspace_of_the_settings(tmp_path: Path) -> None:
    """As an absolute directory."""
    settings = Settings.model_validate({"workspace": str(tmp_path), "release": "whole"})
    ground = Ground.of(settings)
    assert ground.workspace == str(tmp_path.resolve())
    assert ground.options.release == "whole"


@pytest.mark.parametrize(
    ("at", "expected"), [(0, (1, 1)), (1, (1, 2)), (2, (1, 3)), (3, (2, 1)), (5, (3, 1))]
)
def test_position_counts_lines_and_columns_from_one(at: int, expected: tuple[int, int]) -> None:
    """A line end belongs to the line that it ends."""
    assert position("ab\nc\n", at) == expected
