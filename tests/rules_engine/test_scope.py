from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.globs import Glob
from rules_engine.problems import Code
from rules_engine.scope import (
    DEFAULT_SCOPE,
    ScopeToken,
    Surface,
    admits,
    may_admit,
    parse_scope,
)

TEXT, THINKING, TOOL = Surface.TEXT, Surface.THINKING, Surface.TOOL


def tokens(value: str | list[str]) -> tuple[ScopeToken, ...]:
    return parse_scope(value, file="r.md")[0]


@pytest.mark.case(31)
def test_default_scope_is_text_and_every_tool() -> None:
    """Without a scope a rule watches text and tools, never reasoning."""
    assert admits(DEFAULT_SCOPE, TEXT)
    assert admits(DEFAULT_SCOPE, TOOL, ("anything",))
    assert not admits(DEFAULT_SCOPE, THINKING)


@pytest.mark.case(32)
def test_scope_thinking_watches_reasoning_alone() -> None:
    """`thinking` admits reasoning and nothing else."""
    assert admits(tokens("thinking"), THINKING)
    assert not admits(tokens("thinking"), TEXT)


@pytest.mark.case(33)
def test_scope_names_one_tool_with_any_path() -> None:
    """`tool:write(**)` admits a write and no edit."""
    scope = tokens("tool:write(**)")
    assert admits(scope, TOOL, ("write",), ("a/b.ts",))
    assert not admits(scope, TOOL, ("edit",), ("a/b.ts",))


@pytest.mark.case(34)
def test_scope_tool_needs_no_parentheses() -> None:
    """`tool:edit` is every path of edit."""
    assert tokens("tool:edit") == (ScopeToken(TOOL, "edit"),)
    assert admits(tokens("tool:edit"), TOOL, ("Edit",), None)


@pytest.mark.case(35)
def test_scope_without_a_valid_token_is_never_widened() -> None:
    """A scope of bad tokens alone reaches nothing, and each is a problem."""
    scope, problems = parse_scope("nonsense(", file="r.md", line=4)
    assert scope == ()
    assert [(problem.code, problem.found, problem.line) for problem in problems] == [
        (Code.BAD_SCOPE, "nonsense(", 4)
    ]


@pytest.mark.case(36)
def test_scope_glob_gates_every_tool() -> None:
    """`tool(*.ts)` does not admit a call for another file, nor one without a path."""
    scope = tokens("tool(*.ts)")
    assert admits(scope, TOOL, ("any",), ("src/a.ts", "a.ts"))
    assert not admits(scope, TOOL, ("any",), ("a.md",))
    assert not admits(scope, TOOL, ("any",), None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("TEXT, Thinking", (ScopeToken(TEXT), ScopeToken(THINKING))),
        ("toolcall", (ScopeToken(TOOL),)),
        ("edit(*.RS)", (ScopeToken(TOOL, "edit", Glob("*.RS")),)),
        ("tool:mcp.fs-1_x", (ScopeToken(TOOL, "mcp.fs-1_x"),)),
        ("tool:edit({a,b}/*.ts)", (ScopeToken(TOOL, "edit", Glob("{a,b}/*.ts")),)),
        ("'text', \"bash\"", (ScopeToken(TEXT), ScopeToken(TOOL, "bash"))),
        (["text, tool", "text"], (ScopeToken(TEXT), ScopeToken(TOOL))),
        ("text(*.ts)", ()),
        ("tool:", ()),
        ("tool()", ()),
        ("edit(a(b).ts)", ()),
        ("two words", ()),
    ],
)
def test_scope_grammar(value: str | list[str], expected: tuple[ScopeToken, ...]) -> None:
    """Words and tool names have no case, globs do; only tool tokens carry a glob."""
    assert tokens(value) == expected


def test_scope_reports_a_malformed_glob() -> None:
    """The token stays, so that the rule does not widen, and matches nothing."""
    scope, problems = parse_scope("edit({a)", file="r.md")
    assert [problem.code for problem in problems] == [Code.BAD_GLOB]
    assert not admits(scope, TOOL, ("edit",), ("a", "{a"))
    assert not may_admit(scope, TOOL)


def test_scope_admits_by_any_of_the_names_of_a_tool() -> None:
    """A token matches the tool's own name or its canonical one."""
    assert admits(tokens("tool:edit"), TOOL, ("str_replace_editor", "edit"))
    assert not admits(tokens("tool:edit"), TOOL, ("bash",))


def test_scope_may_admit_ignores_paths_and_waits_for_names() -> None:
    """A call could still be covered while its path, or even its name, is unknown."""
    scope = tokens("edit(*.rs)")
    assert may_admit(scope, TOOL, ("edit",))
    assert may_admit(scope, TOOL)
    assert not may_admit(scope, TOOL, ("bash",))
    assert not may_admit(scope, TEXT)


@given(st.text(max_size=40))
def test_scope_never_raises(value: str) -> None:
    """Any text is tokens and problems, and a token that was read means itself."""
    for token in parse_scope(value, file="r.md")[0]:
        means = token.glob is None or not token.glob.malformed
        assert may_admit((token,), token.surface, (token.tool,) if token.tool else ()) is means
