"""What a window leaves out makes no difference: it answers what a plain one answers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from rules_engine.matcher import Matcher
from rules_engine.policy import ReleaseMode
from rules_engine.windows import Found, Watch, Window
from tests.support.window_trials import Trial, live_rule, matchers, run

NEAR_MISS = r"close\(\d+\)[\s\S]*?end(?=X)"


@pytest.mark.parametrize("seed", range(4))
def test_window_answers_what_a_plain_one_answers(seed: int) -> None:
    """Hits, decision positions, hold positions at every piece and cut, with every scanner.

    And whatever the pieces, the rules that hit are those that one search of the text finds.
    """
    assert run(Random(seed), 700) >= 700


def _windows(*conditions: str, holds: bool) -> Iterator[tuple[str, Window]]:
    watches = tuple(Watch(live_rule(each, [each]), holds) for each in conditions)
    for name, matcher in matchers(watches):
        yield name, Window(watches, ReleaseMode.SAFE, matcher=matcher)


@pytest.mark.parametrize("holds", [True, False])
def test_rule_that_is_searched_in_vain_too_often_is_set_aside(holds: bool) -> None:  # noqa: FBT001
    """Its searches are each short, but the same text is gone over with every piece."""
    for name, window in _windows(NEAR_MISS, "secret", holds=holds):
        found: list[Found] = []
        for _ in range(1_500):
            found += window.feed("close(12) and end ")
        assert [each.rule.conditions for each in window.quarantined], name
        assert not found
        assert window.hold() == len(window.text)
        assert len(window.feed("secret")) == 1


def test_match_that_stays_pending_for_long_is_no_fault() -> None:
    """With one place to begin at and nearly 16 KB behind it, nothing is dropped."""
    for name, window in _windows("begin[^!]*!", holds=True):
        window.feed("begin")
        for _ in range(800):
            assert not window.feed(" some eighteen chars")
        (hit,) = window.feed("!")
        assert (hit.start, hit.decided) == (0, 16_006), name
        assert not window.quarantined


def test_first_report_late_in_a_long_text_finds_the_right_place() -> None:
    """A pattern that slept over all of a text is told with the position that decides it."""
    for name, window in _windows(r"\d+ secret(?!s)", holds=False):
        for _ in range(5_000):
            assert not window.feed("12 plain text and ")
        assert not window.feed("34 secret")
        (hit,) = window.feed(", no more")
        assert (hit.start, hit.end, hit.decided) == (90_001, 90_009, 90_010), name


def test_scanner_that_comes_late_serves_the_windows_to_come() -> None:
    """A window keeps the scanner with which it began."""
    watch = Watch(live_rule("foo", ["foo"]), holds=True)
    matcher = Matcher(trigger.pattern for trigger in watch.live.patterns)
    early = Window([watch], matcher=matcher)
    early.feed("a f")
    matcher.adopt(matcher.compile())
    late = Window([watch], matcher=matcher)
    assert not late.feed("a f")
    assert [len(each.feed("oo")) for each in (early, late)] == [1, 1]


def test_rules_of_one_pattern_hit_alike() -> None:
    """A pattern is searched once for all rules that have it, and each has its hit."""
    rules = [live_rule("a", ["foo"]), live_rule("b", ["bar", "foo"]), live_rule("c", ["x"])]
    watches = tuple(Watch(rule, rule.rule.name == "b") for rule in rules)
    for name, matcher in matchers(watches):
        trial = Trial(watches, ("a fo", "o ba", "r x"), "", ReleaseMode.SAFE, -1)
        assert not trial.differences(matcher), name
        window = Window(watches, matcher=matcher)
        window.feed("a fo")
        assert window.hold() == 2
        assert [each.live.rule.name for each in window.feed("o bar")] == ["a", "b"]
        assert window.hold() == 9


@pytest.mark.parametrize("release", [ReleaseMode.SAFE, ReleaseMode.CUT])
@pytest.mark.parametrize("source", ["a[a-z]{1,}+", "a[a-z]++", "(?>a[a-z]{1,3})", "}|a[a-z]++"])
def test_what_only_the_end_decides_is_looked_for_in_all_of_the_text(
    source: str, release: ReleaseMode
) -> None:
    """The first match counts, however often its pattern has slept since."""
    watches = (Watch(live_rule("r", [source]), holds=False),)
    for _, matcher in matchers(watches):
        assert not Trial(watches, ("aa\n", "aa"), "", release, -1).differences(matcher)
