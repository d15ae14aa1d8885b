"""Early searches: where they lie, what they may cost, and what they are for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.early import MOST, STEP, EarlySearches, EarlySource, early_source
from rules_engine.ruleset import LiveRule
from tests.support.rules import rule_text, ruleset

AROUND = '{"rule": {"kind": "debugger_statement", "inside": {"kind": "program"}}}'
RULES = ruleset(
    foo=rule_text(astCondition="debugger", scope="tool"),
    bar=rule_text(astCondition="eval($X)", scope="tool"),
    plain=rule_text(condition="debugger", scope="tool"),
    around=rule_text(astCondition=AROUND, scope="tool"),
).live
ALL = frozenset(live.rule.name for live in RULES)


def source(paths: tuple[str, ...] = ("a.ts",), rules: Sequence[LiveRule] = RULES) -> EarlySource:
    made = early_source(paths, rules, EarlySearches(ALL))
    assert made is not None
    return made


@given(
    st.lists(st.sampled_from(["x" * 700, "y" * 90, "\n", "z\n" * 400, "w"]), max_size=60),
    st.sets(st.integers(1, 40_000), max_size=30),
)
def test_searches_lie_where_the_source_says(pieces: list[str], cuts: set[int]) -> None:
    """At ends of lines, the same however the source is cut, each well behind the one before."""
    text = "".join(pieces)
    borders = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    cut = [text[start:end] for start, end in pairwise(borders)]
    growing = source()
    points = [point for piece in cut for point in growing.grow(piece)]
    assert points == list(source().grow(text))
    assert all(text[point - 1] == "\n" for point in points)
    last = 0
    for point in points:
        assert point >= max(last + STEP, last * 3 // 2)
        assert "\n" not in text[max(last + STEP, last * 3 // 2) - 1 : point - 1]
        last = point


def test_searches_cost_in_proportion_to_the_source() -> None:
    """All of them together go over three times its characters at most."""
    for lines in (100, 1_000, 10_000):
        text = "const a = 1;\n" * lines
        assert sum(source().grow(text)) <= 3 * len(text)


def test_searches_of_an_attempt_are_bounded() -> None:
    """What is affordable depends on what was searched before alone; a small one may still be."""
    searches = EarlySearches(ALL)
    assert searches.afford(MOST - 10)
    assert not searches.afford(11)
    assert searches.afford(10)
    assert not searches.afford(1)


def test_matches_in_closed_statements_are_told() -> None:
    """Each rule with its first; a rule that hit before is not searched, and costs nothing."""
    text = "eval(a);\ndebugger;\neval(b);\nlast();\n"
    searches = EarlySearches(ALL)
    wanted = source().search(text, frozenset(), searches)
    assert wanted is not None
    found = {name: text[span.start : span.end] for name, span in wanted[1].run()}
    assert {live.rule.name for live in wanted[0]} == found.keys()
    assert found == {"foo": "debugger", "bar": "eval(a)"}
    left = searches.left
    assert left == MOST - len(text)
    assert source().search(text, ALL, searches) is None
    assert searches.left == left


def test_match_in_the_last_statement_waits() -> None:
    """What may still become something else is no match yet."""
    for text in ("a();\ndebugger\n", "a();\neval(x)\n"):
        wanted = source().search(text, frozenset(), EarlySearches(ALL))
        assert wanted is not None
        assert not wanted[1].run()


@pytest.mark.parametrize(
    ("paths", "rules", "cutting"),
    [
        pytest.param(("a.ts",), RULES, frozenset[str](), id="no rule may cut"),
        pytest.param(("a.ts",), RULES, {"plain"}, id="only a pattern"),
        pytest.param(("a.ts",), RULES, {"around"}, id="a structure that looks around itself"),
        pytest.param(("a.md",), RULES, ALL, id="no source"),
        pytest.param(("a.sh",), RULES, ALL, id="a language whose statements are not certain"),
        pytest.param((), RULES, ALL, id="no path"),
    ],
)
def test_nothing_is_searched_early_in_vain(
    paths: tuple[str, ...], rules: Sequence[LiveRule], cutting: frozenset[str]
) -> None:
    """Where no hit could cut, a call costs what it cost without."""
    assert early_source(paths, rules, EarlySearches(frozenset(cutting))) is None
    assert early_source(paths, rules, None) is None
