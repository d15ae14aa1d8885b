"""Compiled patterns: notes, limits, and the patterns that rules are made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.dialect import DialectError, compile_pattern
from rules_engine.dialect.errors import MAX_SOURCE
from rules_engine.triggers.pattern import PatternTrigger


def _matches(source: str, text: str) -> bool:
    return PatternTrigger(compile_pattern(source)).final(text, 0) is not None


@pytest.mark.case(24)
def test_leading_flags_hold_for_the_whole_pattern() -> None:
    """A rule's (?i) makes it blind to case, (?ms) changes its anchors and its dot."""
    assert _matches("(?i)todo", "a TODO")
    assert _matches("(?ms)^b.c$", "a\nb\nc\nd")
    assert not _matches("^b.c$", "a\nb\nc\nd")


@pytest.mark.case(25)
def test_unicode_flag_is_dropped_with_a_note() -> None:
    """The u flag is taken, says so, and changes nothing."""
    pattern = compile_pattern("(?u)x")
    assert pattern.notes == ("the u flag is dropped: patterns are read without it",)
    assert _matches("(?iu)x", "X")


def test_backspace_is_noted() -> None:
    """Double quotes in YAML turn a word's boundary into a character that nobody writes."""
    assert "in single quotes it stays" in compile_pattern("\x08any\x08").notes[0]
    assert compile_pattern(r"\bany\b").notes == ()


def test_case_blind_reference_is_noted() -> None:
    """The one place where a rare letter can match as it would not in JavaScript says so."""
    pattern = compile_pattern("(?i)(.)\\1")
    assert "back-reference follows Unicode" in pattern.notes[0]
    assert _matches("(?i)(s)\\1", "s\u017f")


@pytest.mark.case(99)
def test_pattern_keeps_no_state_between_searches() -> None:
    """The same search twice gives the same answer."""
    trigger = PatternTrigger(compile_pattern("a"))
    assert trigger.final("ba", 0) == trigger.final("ba", 0) == (1, 2)


def test_end_is_the_absolute_end() -> None:
    """A trailing newline defeats a dollar sign, unless lines are units."""
    assert not _matches("a$", "a\n")
    assert _matches("(?m)a$", "a\n")


def test_foreign_syntax_is_taken_with_a_note() -> None:
    """What JavaScript rejects and the engine knows is used, and the author is told."""
    possessive = compile_pattern("a++b")
    assert possessive.notes[0].startswith("this is not ECMAScript")
    assert not possessive.native
    conditional = compile_pattern("(a)?(?(1)b|c)")
    assert conditional.native
    assert conditional.streaming is None
    assert _matches("x(?>a+)b", "xaab")
    assert _matches("(?i)(?P<n>a)(?P=n)", "aA")


@pytest.mark.parametrize("source", ["", "a*", "a|", "^", "$", "(?!a)", "\\1*(a)?", "(?>a?)"])
def test_matching_the_empty_string_is_flagged(source: str) -> None:
    """Such a pattern would hit on everything."""
    assert compile_pattern(source).matches_empty


@pytest.mark.parametrize("source", ["a", "\\b", "(?=a)", "^a*b", "(?<=a)"])
def test_matching_nothing_somewhere_is_fine(source: str) -> None:
    """A match without width, tied to some text, is no fault."""
    assert not compile_pattern(source).matches_empty


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x" * (MAX_SOURCE + 1), "characters long"),
        ("a{99999999999999999999999}", "may count to"),
        ("(?:" * 2000 + ")" * 2000, "nested"),
        ("foo(", "not closed"),
        ("(?<a>", "not closed"),
    ],
)
def test_refused_patterns_say_what_to_do(source: str, reason: str) -> None:
    """Limits and mistakes are errors with a reason."""
    with pytest.raises(DialectError, match=reason):
        compile_pattern(source)


def test_error_counts_from_the_leading_flags() -> None:
    """The place is told in the source as written."""
    with pytest.raises(DialectError) as caught:
        compile_pattern("(?i)a(")
    assert caught.value.offset == 5


_MARKS = "ab()[]{}*+?|^$\\.-<>=!:ims1,kPxu#&~é\U0001f600\ud83d\n"


@given(st.one_of(st.text(_MARKS, max_size=24), st.text(max_size=40)))
def test_compile_pattern_raises_nothing_else(source: str) -> None:
    """Any string either compiles or is refused by the one error, with a place inside it."""
    offset = 0
    try:
        compile_pattern(source)
    except DialectError as error:
        offset = error.offset
    assert 0 <= offset <= len(source)


@pytest.mark.parametrize(
    ("source", "hit", "clean"),
    [
        ("runtime\\.SetFinalizer", "runtime.SetFinalizer(c, drop)", "runtime.AddCleanup(c)"),
        (
            '"golang\\.org/x/exp/(?:slices|maps)"',
            '"golang.org/x/exp/maps"',
            '"golang.org/x/exp/rand"',
        ),
        ('"io/ioutil"', 'import "io/ioutil"', 'import "io"'),
        (
            'fmt\\.Sprintf\\(\\s*"%s:%d"\\s*,',
            'fmt.Sprintf("%s:%d", h, p)',
            'fmt.Sprintf("%s:%d/x", h)',
        ),
        ('"math/rand"', 'import "math/rand"', 'import "math/rand/v2"'),
        ("Box::leak", "Box::leak(Box::new(s))", "Arc::new(s)"),
        ("\\bstd::future::Future\\b", "impl std::future::Future", "impl Future<Output=()>"),
        ("\\bonce_cell::|\\bOnceLock::new\\b", "use once_cell::sync::Lazy;", "LazyLock::new(f)"),
        ("\\(ref (?:mut )?[a-z_]", "Some(ref name) =>", "(reference)"),
        (
            "\\.(?:lock|read|write)\\(\\)\\s*\\.unwrap\\(\\)",
            "m.lock().unwrap()",
            "m.read(&mut b).unwrap()",
        ),
        (
            "\\btype\\s+Result<\\s*\\w+\\s*>\\s*=",
            "type Result<T> = R<T, E>;",
            "type Result<T, E = X> = R",
        ),
        ("catch\\s*\\(\\s*_\\w*", "catch (_e) {}", "catch (err) {}"),
        ("\\bimport\\(", 'let x: import("./a").A', 'import type { A } from "./a"'),
        (": any\\b|\\bas any\\b", "let x: any", "let x: unknown"),
        ("@deprecated\\b", "/** @deprecated */", "/** @see x */"),
        ("\\bReturnType\\s*<", "ReturnType<typeof f>", "type R = Foo"),
        (
            "\\b(?:Bun\\.sleep|set(?:Timeout|Interval))\\s*\\(",
            "await Bun.sleep(50)",
            "clearTimeout(t)",
        ),
        ("(?m)=>[^{\\n]*$", "const f = (a) => a.b", "const f = (a) => {"),
        (
            "\\{\\s*return\\s+[^;{}\\n]+;?\\s*\\}",
            "function f(a){ return a.b }",
            "{ a(); return b }",
        ),
        ("\\bnew\\s+Promise\\s*\\(", "new Promise((r) => r())", "new Promise<void>(r)"),
        ("\\bnew\\s+(?:Set|Map)\\b", 'new Set(["a"])', "new WeakMap(); new Settings()"),
        ("\\b(?:const|let|var)\\s+isRecord\\b[^=]*=", "const isRecord = (v) => v", "isRecord(x)"),
    ],
)
def test_everyday_rules_compile_and_are_decided_as_they_stream(
    source: str, hit: str, clean: str
) -> None:
    """Patterns of the kind that rules are made of hit, stay quiet, and give a literal."""
    pattern = compile_pattern(source)
    trigger = PatternTrigger(pattern)
    assert trigger.final(hit, 0) is not None
    assert trigger.final(clean, 0) is None
    assert trigger.certain(hit + "\n", 0, 0) is not None
    assert pattern.literals
    assert pattern.streaming is not None
    assert not pattern.matches_empty
    assert not any("exponentially" in note for note in pattern.notes)
