from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.frontmatter import LARGEST, LARGEST_FRONTMATTER, LONGEST_REMINDER, parse_rule
from rules_engine.frontmatter.fields import KNOWN
from rules_engine.globs import Glob
from rules_engine.problems import Code
from rules_engine.rule import ContextMode, InterruptMode, RepeatMode, Rule
from rules_engine.scope import DEFAULT_SCOPE, ScopeToken, Surface


def parse(frontmatter: str, body: str = "Do not.") -> tuple[Rule, list[Code]]:
    rule, problems = parse_rule(f"---\n{frontmatter}\n---\n{body}\n", "n", "n.md", "native")
    assert rule is not None
    return rule, [problem.code for problem in problems]


def refused(text: str | bytes) -> list[Code]:
    rule, problems = parse_rule(text, "n", "n.md", "native")
    assert rule is None
    return [problem.code for problem in problems]


@pytest.mark.case(1)
def test_rule_without_frontmatter_has_no_fields() -> None:
    """The whole trimmed text is the body, and every field has its default."""
    assert parse_rule("\nDo not. \n", "n", "n.md", "native") == (
        Rule("n", "n.md", "native", "Do not."),
        (),
    )


@pytest.mark.case(2)
def test_rule_is_named_by_its_file() -> None:
    """A `name` key is ignored."""
    assert parse("name: other")[0].name == "n"


@pytest.mark.case(3)
@pytest.mark.case(4)
@pytest.mark.parametrize("value", ['"true"', "yes-please", "yes", "1"])
def test_always_apply_counts_as_a_boolean_only(value: str) -> None:
    """Its text form is false and one problem."""
    rule, codes = parse(f"alwaysApply: {value}")
    assert (rule.always_apply, codes) == (False, [Code.BAD_VALUE])
    assert parse("alwaysApply: true") == (parse("always-apply: true")[0], [])


@pytest.mark.case(6)
def test_enabled_is_switched_off_by_the_boolean_alone() -> None:
    """`"false"` leaves a rule on, and is a problem; `false` switches it off."""
    assert parse('enabled: "false"')[0].enabled
    assert not parse("enabled: false")[0].enabled


@pytest.mark.case(7)
@pytest.mark.case(8)
@pytest.mark.parametrize(
    ("written", "globs"),
    [
        ('globs: "a.ts, b.ts"', ("a.ts", "b.ts")),
        ('globs: "{a,b}.ts, c.ts"', ("{a,b}.ts", "c.ts")),
        ("globs: [a.ts, 3, ' b.ts ', '']", ("a.ts", "b.ts")),
        ("globs:", ()),
        ("globs: *.ts,**/*.tsx", ("*.ts", "**/*.tsx")),
        ("globs: **/*.{ts,tsx}", ("**/*.{ts,tsx}",)),
        ("globs: [*.ts, *.tsx]", ("*.ts", "*.tsx")),
        ("globs: {a,b}.ts, c.ts", ("{a,b}.ts", "c.ts")),
        ("globs: 'a,b', 'c'", ("a,b", "c")),
    ],
)
def test_globs_split_at_commas_outside_braces(written: str, globs: tuple[str, ...]) -> None:
    """Lists, quoted strings and the bare form of Cursor are all read."""
    assert parse(written)[0].globs == tuple(Glob(glob) for glob in globs)


def test_globs_malformed_stay_so_that_the_rule_does_not_widen() -> None:
    """A malformed glob is kept, matches nothing, and is a problem."""
    rule, codes = parse("globs: '{a'")
    assert (rule.globs, codes) == ((Glob("{a"),), [Code.BAD_GLOB])


@pytest.mark.case(12)
def test_interrupt_mode_misspelt_is_never() -> None:
    """A typo must not make a quiet rule interrupt everything."""
    rule, codes = parse("interruptMode: Neverr")
    assert (rule.interrupt_mode, codes) == (InterruptMode.NEVER, [Code.BAD_INTERRUPT_MODE])
    assert parse("interruptMode: [never]")[0].interrupt_mode is InterruptMode.NEVER


@pytest.mark.case(13)
def test_interrupt_mode_is_read_trimmed_in_any_case() -> None:
    """`NEVER` and ` Prose-Only ` are modes."""
    assert parse("interruptMode: NEVER") == (parse("interrupt-mode: never")[0], [])
    assert parse("interruptMode: ' Prose-Only '")[0].interrupt_mode is InterruptMode.PROSE_ONLY
    assert parse("interruptMode:")[0].interrupt_mode is None


@pytest.mark.case(14)
def test_question_is_one_text() -> None:
    """It is trimmed; blank ones and lists are none."""
    assert parse("question: ' Is it? '")[0].question == "Is it?"
    assert parse("question: '  '") == (parse("")[0], [])
    assert parse("question: [a]")[1] == [Code.WRONG_TYPE]


@pytest.mark.case(15)
@pytest.mark.case(16)
def test_reminder_has_at_most_1024_bytes() -> None:
    """The limit counts UTF-8 bytes; a longer one is a problem and the body is used."""
    assert parse(f"reminder: {'é' * 512}")[0].instruction == "é" * 512
    rule, codes = parse(f"reminder: a{'é' * 512}")
    assert (rule.instruction, codes) == ("Do not.", [Code.BAD_REMINDER])
    assert LONGEST_REMINDER == 1024


@pytest.mark.case(17)
def test_reminder_blank_means_the_body() -> None:
    """White space is no reminder."""
    rule, codes = parse("reminder: '  '")
    assert (rule.instruction, codes) == ("Do not.", [Code.BAD_REMINDER])
    assert parse("reminder: [a]")[1] == [Code.WRONG_TYPE]


@pytest.mark.case(20)
def test_bad_escape_is_recovered_and_reported_with_its_line() -> None:
    r"""A double-quoted `\d` is usable; the problem names the line and what was found."""
    text = '---\ndescription: d\ncondition: "\\d+"\n---\nb'
    rule, problems = parse_rule(text, "n", "n.md", "native")
    assert rule is not None
    assert (rule.conditions, rule.description) == (("\\d+",), "d")
    assert [(p.code, p.line, p.found) for p in problems] == [
        (Code.BAD_YAML, 3, 'condition: "\\d+"')
    ]


@pytest.mark.case(21)
def test_scope_of_two_quoted_words() -> None:
    """The malformed but common form is two tokens."""
    assert parse('scope: "text","thinking"')[0].scope == (
        ScopeToken(Surface.TEXT),
        ScopeToken(Surface.THINKING),
    )


@pytest.mark.case(22)
def test_frontmatter_that_is_no_mapping_is_ignored() -> None:
    """A list is no metadata and one problem."""
    assert parse("- a\n- b") == (parse("")[0], [Code.NOT_A_MAPPING])


def test_duplicate_key_is_an_error_and_the_last_one_counts() -> None:
    """The problem names the key."""
    rule, codes = parse("condition: a\ncondition: b")
    assert (rule.conditions, codes) == (("b",), [Code.DUPLICATE_KEY])


def test_tabs_alone_are_no_fault() -> None:
    """A tab is read as two blanks."""
    assert parse("globs:\n\t- a.ts") == (parse("globs: [a.ts]")[0], [])
    assert parse('globs:\n\t- a.ts\ncondition: "\\d"')[1] == [Code.BAD_YAML]


@pytest.mark.case(37)
def test_globs_with_prose_scope_are_a_problem_at_load() -> None:
    """Such a rule can never fire."""
    assert parse("scope: text\nglobs: '**/*.ts'")[1] == [Code.GLOBS_WITHOUT_TOOL]
    assert parse("scope: text, tool\nglobs: '**/*.ts'")[1] == []


def test_agents_are_lower_case_tokens() -> None:
    """Blanks around commas go, inside braces too; duplicates and blanks vanish."""
    assert parse("agents: 'Main, {Rev , Fix}*,, main'")[0].agents == ("main", "{rev,fix}*")
    assert parse("agents: []")[0].agents == ()
    assert parse("agents: 'a{'")[1] == [Code.BAD_GLOB]


def test_policy_fields_of_one_rule() -> None:
    """A rule may have its own context mode, repeat mode and gap; bad ones are problems."""
    rule, codes = parse("contextMode: Discard\nrepeatMode: after-gap\nrepeatGap: 4")
    assert codes == []
    assert rule.context_mode is ContextMode.DISCARD
    assert (rule.repeat_mode, rule.repeat_gap) == (RepeatMode.AFTER_GAP, 4)
    rule, codes = parse("contextMode: drop\nrepeatMode: twice\nrepeatGap: -1")
    assert codes == [Code.BAD_VALUE] * 3
    assert (rule.context_mode, rule.repeat_mode, rule.repeat_gap) == (None, None, None)


def test_empty_body_is_no_rule() -> None:
    """Frontmatter alone is a problem and claims no name."""
    assert refused("---\ncondition: a\n---\n") == [Code.EMPTY_BODY]
    assert refused("") == [Code.EMPTY_BODY]
    assert refused(b"\xef\xbb\xbf \n") == [Code.EMPTY_BODY]


def test_large_files_are_refused() -> None:
    """A rule has at most 256 KiB, its frontmatter 32 KiB."""
    assert parse_rule("x" * LARGEST, "n", "n.md", "native")[0] is not None
    assert refused("é" * (LARGEST // 2) + "x") == [Code.TOO_LARGE]
    rule, codes = parse(f"condition: {'x' * LARGEST_FRONTMATTER}")
    assert (rule.conditions, codes) == ((), [Code.TOO_LARGE])


def test_nul_means_no_text() -> None:
    """A binary file, and UTF-16, is refused."""
    assert refused(b"a\0b") == [Code.BINARY]
    assert refused("abc".encode("utf-16")) == [Code.BINARY]


def test_invalid_utf8_is_replaced_and_reported() -> None:
    """The rule stays in force; the problem names the line."""
    rule, problems = parse_rule(b"one\ntwo \xff", "n", "n.md", "native")
    assert rule is not None
    assert rule.body == "one\ntwo \ufffd"
    assert [(problem.code, problem.line) for problem in problems] == [(Code.BAD_UTF8, 2)]
    rule, _ = parse_rule("a\ud800b", "n", "n.md", "native")
    assert rule is not None
    rule.body.encode()


def test_line_ends_and_byte_order_mark_do_not_matter() -> None:
    """CRLF, CR and a BOM give the rule that LF gives."""
    text = "---\ncondition: a\n---\none\ntwo\n"
    expected = parse_rule(text, "n", "n.md", "native")
    for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), f"\ufeff{text}"):
        assert parse_rule(other.encode(), "n", "n.md", "native") == expected


def test_unclosed_frontmatter_is_reported() -> None:
    """All of it is body, which is most likely not what was meant."""
    rule, problems = parse_rule("---\ncondition: a\n", "n", "n.md", "native")
    assert rule is not None
    assert (rule.conditions, rule.scope) == ((), DEFAULT_SCOPE)
    assert [problem.code for problem in problems] == [Code.UNCLOSED_FRONTMATTER]


_VALUES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["[a", '"\\d"', "*.ts", "{", "|", "- x", "never", "true", "text, tool(", "&a"]),
)
_ROWS = st.tuples(st.sampled_from([*KNOWN, "- x", "  y", "x-y"]), _VALUES)


@given(st.lists(_ROWS, max_size=6), st.text(max_size=12))
def test_parse_never_raises_on_frontmatter(rows: list[tuple[str, str]], body: str) -> None:
    """Any fields give a rule or problems that can be shown."""
    block = "\n".join(f"{key}: {value}" for key, value in rows)
    rule, problems = parse_rule(f"---\n{block}\n---\n{body}", "n", "n.md", "native")
    assert all(problem.render() for problem in problems)
    assert rule is not None or problems


@given(raw=st.binary(max_size=80), fenced=st.booleans())
def test_parse_never_raises_on_bytes(raw: bytes, *, fenced: bool) -> None:
    """No file's bytes make it raise."""
    parse_rule(b"---\n" + raw + b"\n---\nx" if fenced else raw, "n", "n.md", "native")
