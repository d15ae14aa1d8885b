from __future__ import annotations

from dataclasses import replace

import pytest

from rules_engine.dialect import compile_pattern
from rules_engine.frontmatter import parse_rule
from rules_engine.problems import Code
from rules_engine.rule import Bucket, ContextMode, InterruptMode, Origin, RepeatMode, Rule
from rules_engine.ruleset import Reason, RuleSet, RuleSetOptions, build
from rules_engine.triggers.pattern import PatternTrigger

OPTIONS = RuleSetOptions()


def rule(frontmatter: str, name: str = "n", origin: Origin = Origin.PROJECT) -> Rule:
    text = f"---\n{frontmatter}\n---\nDo not."
    parsed, _ = parse_rule(text, name, f"{origin}/{name}.md", "native", origin=origin)
    assert parsed is not None
    return parsed


def shelves(ruleset: RuleSet) -> list[tuple[Bucket, str | None]]:
    return [(listed.bucket, listed.reason) for listed in ruleset.listed]


def codes(ruleset: RuleSet) -> list[Code]:
    return [problem.code for problem in ruleset.problems]


@pytest.mark.case(26)
def test_build_goes_on_with_the_valid_conditions() -> None:
    """A broken pattern is one problem and takes no other condition with it."""
    built = build([rule("condition: ['(', TODO]")], OPTIONS)
    assert [trigger.pattern.source for trigger in built.live[0].patterns] == ["TODO"]
    assert codes(built) == [Code.BAD_PATTERN]
    assert built.problems[0].found == "("


@pytest.mark.case(27)
def test_build_shelves_a_rule_of_broken_conditions_elsewhere() -> None:
    """With a description it is in the rulebook, and the list says why it is no trigger."""
    built = build([rule("condition: '('\ndescription: d")], OPTIONS)
    assert built.live == ()
    assert shelves(built) == [(Bucket.RULEBOOK, Reason.INVALID)]


@pytest.mark.case(24)
def test_build_compiles_leading_flags() -> None:
    """`(?i)todo` is a usable condition."""
    assert build([rule("condition: (?i)todo")], OPTIONS).live[0].patterns


@pytest.mark.case(25)
def test_build_takes_a_dropped_flag_with_a_note() -> None:
    """`(?u)x` is used, and what became of its flag is said."""
    built = build([rule("condition: (?u)x")], OPTIONS)
    assert built.live[0].patterns
    assert codes(built) == [Code.PATTERN_NOTE]


@pytest.mark.case(35)
def test_build_does_not_register_an_unreachable_scope() -> None:
    """A rule whose scope reaches nothing is not in force."""
    built = build([rule("condition: a\nscope: nonsense(")], OPTIONS)
    assert shelves(built) == [(Bucket.INACTIVE, Reason.INVALID)]


@pytest.mark.case(37)
def test_build_does_not_register_globs_on_prose_alone() -> None:
    """A rule that can never fire is not in force."""
    built = build([rule("condition: a\nscope: text\nglobs: '*.ts'")], OPTIONS)
    assert shelves(built) == [(Bucket.INACTIVE, Reason.INVALID)]


@pytest.mark.parametrize(
    "frontmatter",
    [
        "condition: a\nglobs: '{a'",
        "condition: a\nglobs: ['!*.ts', '[a', '{,}']",
        "condition: a\nscope: 'tool:edit({a)'",
        "condition: a\nscope: 'text, edit({a)'\nglobs: '*.ts'",
        "condition: 'src/{a'",
        "astCondition: eval($A)\nglobs: '{a'",
        "astCondition: eval($A)\nscope: 'text, edit({a)'",
    ],
)
def test_build_does_not_register_a_rule_whose_globs_match_nothing(frontmatter: str) -> None:
    """It could never fire, and its file tells why: the globs are the problem, and nothing else."""
    text = f"---\n{frontmatter}\n---\nDo not."
    parsed, problems = parse_rule(text, "n", "n.md", "native")
    assert parsed is not None
    built = build([parsed], OPTIONS, problems)
    assert built.live == ()
    assert shelves(built) == [(Bucket.INACTIVE, Reason.INVALID)]
    assert set(codes(built)) - {Code.GLOB_CONDITION} == {Code.BAD_GLOB}


@pytest.mark.parametrize(
    "frontmatter",
    [
        "condition: a\nglobs: ['{a', '*.ts']",
        "condition: a\nscope: 'text, edit({a)'",
        "condition: a\nscope: ['edit({a)', 'edit(*.ts)']",
    ],
)
def test_build_registers_a_rule_that_one_glob_lets_fire(frontmatter: str) -> None:
    """A malformed glob takes no other and no other surface with it."""
    assert shelves(build([rule(frontmatter)], OPTIONS)) == [(Bucket.TTSR, None)]


@pytest.mark.case(29)
def test_build_takes_the_catch_all_of_paths_and_no_other_empty_match() -> None:
    """A pattern that matches the empty text is refused, but for our own catch-all."""
    built = build([rule("condition: '*.env'"), rule("condition: ['a*', b]", "m")], OPTIONS)
    assert [len(live.patterns) for live in built.live] == [1, 1]
    assert codes(built) == [Code.MATCHES_EMPTY]
    own = build([rule(r"condition: '[\s\S]*'")], OPTIONS)
    assert (own.live, codes(own)) == ((), [Code.MATCHES_EMPTY])


@pytest.mark.case(65)
def test_build_puts_a_trigger_rule_into_one_bucket_alone() -> None:
    """Condition, alwaysApply and description together: a trigger, nothing else."""
    built = build([rule("condition: a\nalwaysApply: true\ndescription: d")], OPTIONS)
    assert shelves(built) == [(Bucket.TTSR, None)]


@pytest.mark.case(66)
def test_build_drops_disabled_rules() -> None:
    """Names are trimmed; the reason is `disabled`."""
    options = replace(OPTIONS, disabled_rules=(" n ", ""))
    built = build([rule("condition: a\ndescription: d")], options)
    assert (built.live, shelves(built)) == ((), [(Bucket.INACTIVE, Reason.DISABLED)])


@pytest.mark.case(51)
@pytest.mark.case(67)
def test_build_lets_a_project_rule_stand_for_a_bundled_one() -> None:
    """It shadows the bundled one, and works with bundled rules off."""
    rules = [rule("condition: a"), rule("condition: b", origin=Origin.BUILTIN)]
    for options, reason in (
        (OPTIONS, Reason.SHADOWED),
        (replace(OPTIONS, builtin_rules=False), Reason.BUILTINS_OFF),
    ):
        built = build(rules, options)
        assert [live.rule.conditions for live in built.live] == [("a",)]
        assert shelves(built) == [(Bucket.TTSR, None), (Bucket.INACTIVE, reason)]


@pytest.mark.case(68)
def test_build_shelves_trigger_rules_elsewhere_when_switched_off() -> None:
    """With TTSR off a described rule is in the rulebook, another one nowhere."""
    built = build(
        [rule("condition: a\ndescription: d"), rule("condition: a", "m")],
        replace(OPTIONS, enabled=False),
    )
    assert built.live == ()
    assert shelves(built) == [
        (Bucket.RULEBOOK, Reason.TTSR_OFF),
        (Bucket.INACTIVE, Reason.TTSR_OFF),
    ]


@pytest.mark.case(69)
def test_build_gives_a_reason_for_a_rule_without_use() -> None:
    """Neither trigger, alwaysApply nor description: `no-trigger`."""
    assert shelves(build([rule("")], OPTIONS)) == [(Bucket.INACTIVE, Reason.NO_TRIGGER)]
    assert shelves(build([rule("alwaysApply: true")], OPTIONS)) == [(Bucket.ALWAYS, None)]
    assert shelves(build([rule("description: d")], OPTIONS)) == [(Bucket.RULEBOOK, None)]


@pytest.mark.case(38)
def test_build_filters_by_agent() -> None:
    """A rule for `main` is in no bucket of another agent, and still claims its name."""
    rules = [rule("agents: main\ncondition: a"), rule("condition: b", origin=Origin.USER)]
    built = build(rules, replace(OPTIONS, agent="sub"))
    assert shelves(built) == [
        (Bucket.INACTIVE, Reason.AGENT_FILTER),
        (Bucket.INACTIVE, Reason.SHADOWED),
    ]


def test_build_trusting_the_user_alone_ignores_project_rules() -> None:
    """An untrusted rule claims no name."""
    rules = [rule("condition: a"), rule("condition: b", origin=Origin.USER)]
    built = build(rules, replace(OPTIONS, trust_user_only=True))
    assert [live.rule.conditions for live in built.live] == [("b",)]
    assert shelves(built)[0] == (Bucket.INACTIVE, Reason.UNTRUSTED)


def test_build_resolves_override_then_file_then_setting() -> None:
    """Every live rule carries its final policy."""
    options = replace(
        OPTIONS,
        interrupt_mode=InterruptMode.TOOL_ONLY,
        repeat_gap=7,
        mode_overrides=("a=b=Never", "m=prose-only", "bad", "=never", "n=sometimes"),
    )
    rules = [
        rule("condition: a\ninterruptMode: always", "a=b"),
        rule("condition: a\ncontextMode: discard\nrepeatMode: after-gap\nrepeatGap: 2"),
        rule("condition: a\ninterruptMode: never", "m"),
    ]
    built = build(rules, options)
    assert [live.mode for live in built.live] == [
        InterruptMode.NEVER,
        InterruptMode.TOOL_ONLY,
        InterruptMode.PROSE_ONLY,
    ]
    second = built.live[1]
    assert second.context_mode is ContextMode.DISCARD
    assert (second.repeat_mode, second.repeat_gap) == (RepeatMode.AFTER_GAP, 2)
    assert (built.live[0].context_mode, built.live[0].repeat_gap) == (ContextMode.KEEP, 7)
    assert codes(built) == [Code.BAD_OVERRIDE] * 3


@pytest.mark.parametrize(
    "trigger",
    ["question: a?", "question: a?\ncondition: b", "question: a?\nastCondition: b"],
)
def test_build_says_which_triggers_are_not_supported(trigger: str) -> None:
    """A question's patterns and structures never hit alone."""
    built = build([rule(trigger)], OPTIONS)
    assert (built.live, codes(built)) == ((), [Code.UNSUPPORTED_TRIGGER])
    assert shelves(built) == [(Bucket.INACTIVE, Reason.NO_TRIGGER)]


@pytest.mark.case(102)
def test_build_goes_on_with_the_valid_structures() -> None:
    """A broken structure is one problem and takes no other trigger with it."""
    built = build([rule("astCondition: ['foo($A', bar($A)]")], OPTIONS)
    assert [trigger.source for trigger in built.live[0].structures] == ["bar($A)"]
    assert codes(built) == [Code.BAD_PATTERN]
    problem = built.problems[0]
    assert (problem.field, problem.found) == ("astCondition", "foo($A")


def test_build_does_not_register_a_rule_of_broken_structures() -> None:
    """Nothing usable is left, and the list says so."""
    built = build([rule("astCondition: 'foo($A'")], OPTIONS)
    assert (built.live, shelves(built)) == ((), [(Bucket.INACTIVE, Reason.INVALID)])


def test_build_judges_structures_by_the_languages_of_the_globs() -> None:
    """What parses somewhere, but in none of the files that the rule watches, is broken."""
    loop = "astCondition: 'for $I := range $N { $$$B }'"
    assert codes(build([rule(f"{loop}\nglobs: '*.go'")], OPTIONS)) == []
    assert codes(build([rule(f"{loop}\nscope: tool:edit(*.go)")], OPTIONS)) == []
    assert codes(build([rule(f"{loop}\nglobs: '*.py'")], OPTIONS)) == [Code.BAD_PATTERN]
    assert codes(build([rule(f"{loop}\nglobs: ['*.py', 'src/**']")], OPTIONS)) == []


def test_build_keeps_structures_to_tool_calls() -> None:
    """With prose alone in the scope they can never hit; a pattern beside them still can."""
    built = build([rule("astCondition: a\nscope: text")], OPTIONS)
    assert (built.live, codes(built)) == ((), [Code.STRUCTURE_WITHOUT_TOOL])
    built = build([rule("astCondition: a\ncondition: b\nscope: text")], OPTIONS)
    assert built.live[0].structures == ()


def test_build_shelves_structure_rules_elsewhere_when_switched_off() -> None:
    """With TTSR off they are no triggers either."""
    built = build([rule("astCondition: a")], replace(OPTIONS, enabled=False))
    assert shelves(built) == [(Bucket.INACTIVE, Reason.TTSR_OFF)]


def test_build_version_follows_rules_and_options_alone() -> None:
    """The same input has the same version; any change another."""
    rules = [rule("condition: a")]
    version = build(rules, OPTIONS).version
    assert version == build(tuple(rules), RuleSetOptions()).version
    assert version != build(rules, replace(OPTIONS, repeat_gap=11)).version
    assert version != build([rule("condition: b")], OPTIONS).version


def test_build_uses_compiled_patterns_again() -> None:
    """Only what is new is compiled; the answer is the same as without."""
    first = build([rule("condition: [a, b]")], OPTIONS)
    rules = [rule("condition: [b, c]")]
    second = build(rules, OPTIONS, previous=first)
    assert second.live[0].patterns[0] is first.live[0].patterns[1]
    assert [trigger.pattern.source for trigger in second.live[0].patterns] == ["b", "c"]
    assert second.version == build(rules, OPTIONS).version


def test_build_carries_the_problems_of_discovery() -> None:
    """Problems found earlier come first."""
    earlier = build([rule("condition: '('")], OPTIONS).problems
    assert build([], OPTIONS, earlier).problems == earlier


def test_build_takes_patterns_that_are_ready() -> None:
    """What was compiled elsewhere is used as it is; the rest is compiled here."""
    ready = PatternTrigger(compile_pattern("alpha"))
    built = build([rule("condition: [alpha, beta]")], OPTIONS, ready={"alpha": ready})
    first, second = built.live[0].patterns
    assert first is ready
    assert second.pattern.source == "beta"
