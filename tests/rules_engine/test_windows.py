"""One growing text under fixed rules: what is searched when, what is held, what is found."""

from __future__ import annotations

import pytest

from rules_engine.dialect import Pattern
from rules_engine.matcher import Matcher
from rules_engine.policy import ReleaseMode
from rules_engine.ruleset import LiveRule
from rules_engine.windows import Found, Watch, Window
from tests.support.rules import rule_text, ruleset

PATHOLOGICAL = "(?:a|aa)+[xy]"


def live(*conditions: str) -> LiveRule:
    """One rule in force."""
    (one,) = ruleset(foo=rule_text(condition=list(conditions))).live
    return one


def window(
    *conditions: str,
    holds: bool = True,
    release: ReleaseMode = ReleaseMode.SAFE,
    prefix: str = "",
) -> Window:
    return Window([Watch(live(*conditions), holds)], release, prefix)


def patterns_of(watch: Watch) -> list[Pattern]:
    return [each.pattern for each in watch.live.patterns]


def spans(found: tuple[Found, ...]) -> list[tuple[int, int, int, bool]]:
    return [(each.start, each.end, each.decided, each.at_end) for each in found]


def test_hit_comes_with_the_character_that_decides_it() -> None:
    """A match is told once, with its span and the shortest prefix on which it is final."""
    text = window(r"TODO(?!\()")
    assert text.feed("a TODO") == ()
    assert spans(text.feed(" and more")) == [(2, 6, 7, False)]
    assert text.feed(" TODO ") == ()
    assert text.close() == ()


def test_end_decides_what_no_character_did() -> None:
    """The final form is asked when the text has ended."""
    text = window("end$")
    assert text.feed("the end") == ()
    assert spans(text.close()) == [(4, 7, 7, True)]


def test_rule_with_several_conditions_hits_with_the_first_decided() -> None:
    """Of a rule's conditions the one that is decided first makes its one hit."""
    text = window("a.*z", "b")
    assert spans(text.feed("a b z")) == [(2, 3, 3, False)]
    assert text.feed("z") == ()


def test_quiet_rule_sleeps_until_its_literal_comes() -> None:
    """Text without the literal is not searched, and is there once the literal wakes the rule."""
    text = window(r"\d+ secret", holds=False)
    assert text.feed("12") == ()
    assert text.feed("34 sec") == ()
    assert spans(text.feed("ret")) == [(3, 11, 11, False)]


def test_quiet_rule_stays_awake_while_a_match_is_pending() -> None:
    """What follows the literal may decide, whether or not it holds a literal itself."""
    text = window(r"secret\d*!", holds=False)
    for piece in ("a secr", "et", "12", "34"):
        assert text.feed(piece) == ()
    assert spans(text.feed("!")) == [(2, 13, 13, False)]


@pytest.mark.parametrize("condition", ["(?i)secret", "(?i)SECRÉT", "s\U0001f600t", "[xy]z"])
def test_sleep_misses_nothing(condition: str) -> None:
    """Whatever a pattern's literals are, single characters find what one search finds."""
    text = "a SecRet SECRét s\U0001f600t xz b"
    slow, fast = window(condition, holds=False), window(condition, holds=False)
    told = [found for letter in text for found in slow.feed(letter)]
    assert spans((*told, *slow.close())) == spans((*fast.feed(text), *fast.close()))
    assert told


def test_safe_holds_from_where_a_match_may_begin() -> None:
    """Under `safe` the hold position is the start of whatever can still become a match."""
    text = window("secret")
    text.feed("a se")
    assert text.hold() == 2
    text.feed("t")
    assert text.hold() == 5


def test_cut_holds_only_complete_matches() -> None:
    """Under `cut` a beginning is let go, a complete match that may be undone is not."""
    text = window(r"TODO(?!\()", release=ReleaseMode.CUT)
    text.feed("a TO")
    assert text.hold() == 4
    text.feed("DO")
    assert text.hold() == 2
    text.feed("(")
    assert text.hold() == 7


def test_cut_holds_what_only_the_end_decides() -> None:
    """A complete match that no text decides is held to the end, however far behind it lies."""
    text = window("}|x(?>y+)", release=ReleaseMode.CUT)
    text.feed("a xyy")
    for piece in (" and", " more", " of it"):
        assert text.feed(piece) == ()
        assert text.hold() == 2
    assert spans(text.close()) == [(2, 5, text.length, True)]


def test_quiet_rules_hold_nothing() -> None:
    """Only a rule that would interrupt keeps text back."""
    text = window("secret", holds=False)
    text.feed("sec")
    assert text.hold() == 3


def test_hold_at_a_cut_counts_the_rule_that_hit() -> None:
    """What the hit itself stands on stays here, and what another rule still waits for."""
    text = Window([Watch(live("secret"), holds=True), Watch(live("x!"), holds=True)])
    text.feed("a x")
    assert text.hold() == 2
    (found,) = text.feed(" and secret here")
    assert text.hold_at(found.decided) == found.start
    assert text.hold() == len(text.text)


@pytest.mark.parametrize("release", [ReleaseMode.SAFE, ReleaseMode.CUT])
@pytest.mark.parametrize("dropped", [False, True])
def test_hold_at_the_end_counts_what_the_end_decided(
    release: ReleaseMode,
    dropped: bool,  # noqa: FBT001 - a case
) -> None:
    """A match that only the end makes was held and is not let go with it.

    Nor is it where no rule holds anything any more by the time that it is asked for.
    """
    text = window("end$", release=release)
    text.feed("the end")
    assert text.close()
    if dropped:
        text.drop_holds()
    assert text.hold_at(7) == 4


def test_cut_holds_what_was_complete_before_its_search_came_to_rest() -> None:
    """Where a piece undoes a match, that match was complete up to some place in the piece."""
    text = window(r"TODO(?!, done)", release=ReleaseMode.CUT)
    text.feed("a TODO")
    assert text.feed(", done, and more, much more") == ()
    assert text.hold() == text.length
    assert [text.hold_at(cut) for cut in (6, 7, 11, 12, 20)] == [2, 2, 2, 12, 20]


def test_dropped_holds_let_everything_go_and_still_find() -> None:
    """Rules that may interrupt no more go on as rules that only remind."""
    text = window("secret")
    text.feed("a sec")
    text.drop_holds()
    assert text.hold() == 5
    assert spans(text.feed("ret")) == [(2, 8, 8, False)]


def test_window_that_holds_no_more_leaves_nothing_wrong_to_others() -> None:
    """What is remembered for all windows of the same rules is true of each text alone."""
    watches = [Watch(live("any(?!x) é"), holds=True)]
    matcher = Matcher(pattern for each in watches for pattern in patterns_of(each))
    dropped = Window(watches, matcher=matcher)
    dropped.feed("xa")
    dropped.drop_holds()
    dropped.feed("n")
    dropped.feed("b")
    assert [dropped.hold_at(cut) for cut in (3, 4)] == [3, 4]
    other = Window(watches, matcher=matcher)
    other.feed("anb")
    assert [other.hold_at(cut) for cut in (1, 2, 3)] == [0, 0, 3]


def test_match_within_the_prefix_does_not_count() -> None:
    """What an earlier attempt said was judged then; only what reaches beyond it is new."""
    text = window("secret", prefix="secret\n\n")
    assert text.feed("fine") == ()
    assert spans(text.feed(" secret")) == [(13, 19, 19, False)]


def test_match_across_the_prefix_counts() -> None:
    """A violation may not be built out of two attempts."""
    text = window(r"one\s+two", prefix="one\n\n")
    assert text.hold() == 0
    text.feed("tw")
    assert text.hold() == 0
    assert spans(text.feed("o")) == [(0, 8, 8, False)]


@pytest.mark.parametrize("holds", [True, False])
def test_long_pending_match_is_found_where_it_was_decided(holds: bool) -> None:  # noqa: FBT001
    """A candidate that stays open for long is searched ever more rarely, but told exactly."""
    text = window(r"begin[^!]*!", holds=holds)
    told: list[Found] = list(text.feed("begin"))
    for _ in range(300):
        told += text.feed("x" * 100)
    told += text.feed("!")
    for _ in range(100):
        told += text.feed("y" * 100)
    assert spans(tuple(told)) == [(0, 30_006, 30_006, False)]


def test_long_pending_match_is_found_at_the_end() -> None:
    """Where the text ends before the next search is due, the end finds the match."""
    text = window(r"begin[^!]*!")
    text.feed("begin")
    text.feed("x" * 40_000)
    assert text.feed("!") == ()
    assert spans(text.close()) == [(0, 40_006, 40_006, True)]


def test_rule_over_its_time_is_set_aside_alone() -> None:
    """A pattern that takes too long is dropped for the text, holds nothing, and spares others."""
    text = Window([Watch(live(PATHOLOGICAL), holds=True), Watch(live("secret"), holds=True)])
    text.feed("y" + "a" * 3000)
    assert [each.rule.conditions for each in text.quarantined] == [(PATHOLOGICAL,)]
    assert text.hold() == 3001
    assert len(text.feed(" secret")) == 1
    assert text.close() == ()
    assert len(text.quarantined) == 1


def test_rule_over_its_time_at_the_end_is_set_aside() -> None:
    """The end's search has the same limit."""
    text = window(PATHOLOGICAL, holds=False)
    assert text.feed("y" + "a" * 3000) == ()
    assert text.close() == ()
    assert len(text.quarantined) == 1


def test_prefix_over_the_time_is_searched_again_with_the_text() -> None:
    """A window that opens on a prefix too hard to search does not fail; its rule does."""
    text = window(PATHOLOGICAL, prefix="a" * 3000)
    assert text.hold() == 0
    text.feed("b")
    assert len(text.quarantined) == 1
