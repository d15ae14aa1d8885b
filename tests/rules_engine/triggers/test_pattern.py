"""Pattern triggers on growing texts."""

from __future__ import annotations

from random import Random

import pytest

from rules_engine.dialect import DialectError, compile_pattern
from rules_engine.dialect.units import join_units, split_units
from rules_engine.triggers.pattern import Certain, OverBudget, PatternTrigger, Span
from tests.rules_engine.dialect.grammar import BROAD, SMALL, Grammar, Vocabulary

_FACE = "\U0001f600"


def _trigger(source: str) -> PatternTrigger:
    return PatternTrigger(compile_pattern(source))


@pytest.mark.case(94)
def test_certain_waits_for_what_could_undo_a_match() -> None:
    """A match that the next character may falsify is not one yet."""
    trigger = _trigger("\\bany\\b(?!\\()")
    assert trigger.certain("an any", 0, 0) is None
    assert trigger.certain("an anything", 0, 6) is None
    assert trigger.certain("an any(", 0, 6) is None
    assert trigger.certain("an any thing", 0, 6) == Certain(3, 6, 7)
    assert trigger.final("an any", 0) == Span(3, 6)


def test_decision_does_not_depend_on_how_much_came_at_once() -> None:
    """The position is that of the deciding character, however much stands behind it."""
    trigger = _trigger("a+b?;")
    assert trigger.certain("xxaab;;;;;a;", 0, 0) == Certain(3, 6, 6)
    assert trigger.certain("xxaab;", 0, 5) == Certain(3, 6, 6)


def test_hold_is_where_a_match_may_still_begin() -> None:
    """Text in front of it can never be part of a match."""
    trigger = _trigger("any\\Bthing")
    assert trigger.hold("some an", 0) == 5
    assert trigger.hold("some any", 0) == 5
    assert trigger.hold("some any ", 0) == 9
    assert trigger.hold("", 0) == 0


def test_floor_lets_a_match_look_back_but_not_begin_earlier() -> None:
    """A lookbehind sees what stands in front of the floor."""
    trigger = _trigger("(?<=a)b")
    assert trigger.final("ab", 1) == Span(1, 2)
    assert _trigger("ab").final("ab", 1) is None
    assert _trigger("^b").final("ab", 1) is None


def test_beyond_ignores_matches_inside_the_prefix_only() -> None:
    """A match that crosses out of the prefix counts, even if a shorter way exists."""
    trigger = _trigger("foo(?:.*bar)??")
    assert trigger.final("foo baz", 0, beyond=3) is None
    assert trigger.final("foo bar", 0, beyond=3) == Span(0, 7)
    assert trigger.certain("foo bar", 0, 3, beyond=3) == Certain(0, 7, 7)
    assert trigger.certain("foo ba", 0, 3, beyond=3) is None
    assert trigger.certain("foo foo", 0, 3, beyond=3) == Certain(4, 7, 7)
    assert trigger.hold("foo ba", 0, beyond=3) == 0
    assert _trigger("foo").hold("foo ba", 0, beyond=3) == 6
    assert _trigger("foo").hold("foo f", 0, beyond=3) == 4


def test_beyond_works_for_foreign_syntax() -> None:
    """Patterns taken as written skip what lies in the prefix, too."""
    trigger = _trigger("(f)?(?(1)oo|x) # no comment")
    assert trigger.final("foo # no comment", 0) == Span(0, 16)
    assert trigger.final("foo # no comment", 0, beyond=16) is None
    assert trigger.final("foo # no comment x # no comment", 0, beyond=16) == Span(17, 31)
    assert trigger.certain("foo # no comment", 0, 0) is None
    assert trigger.hold("abc", 1) == 1
    assert trigger.hold("abc", 1, beyond=2) == 1


def test_astral_characters_count_as_two() -> None:
    """A dot is half a character, and positions are told in the text as given."""
    assert _trigger("^.$").final(_FACE, 0) is None
    assert _trigger("^..$").final(_FACE, 0) == Span(0, 1)
    assert _trigger("a..b").final(f"{_FACE}a{_FACE}b", 0) == Span(1, 4)
    assert _trigger("a.").certain(f"{_FACE}a{_FACE}b", 0, 1) == Certain(1, 3, 3)
    assert _trigger(".b").hold(f"aa{_FACE}", 0) == 2
    assert _trigger(_FACE).final("\ud83d\ude00", 0) == Span(0, 2)
    assert _trigger(_FACE).final(f"\ud83dx{_FACE}", 0) == Span(2, 3)
    assert _trigger("^.b").final(f"{_FACE}b", 1) is None


def test_astral_characters_far_back_cost_nothing() -> None:
    """What lies further back than the pattern looks is not converted, and not taken for a start."""
    text = _FACE * 50 + "ab"
    assert _trigger("[^]b").final(text, 50) == Span(50, 52)
    assert _trigger("^[^]").final(text, 49) is None
    assert _trigger("(?<=[^]{2})a").final(text, 50) == Span(50, 51)
    assert _trigger("(?<=^(?:..)*)a").final(text, 50) == Span(50, 51)


def test_search_beyond_its_time_is_over_budget() -> None:
    """A hostile pattern is stopped, in every form."""
    trigger = _trigger("(?:a|aa)+[^a]b(?!c)")
    hostile = "a" * 60 + "!x" + "ab"
    with pytest.raises(OverBudget):
        trigger.final(hostile, 0)
    with pytest.raises(OverBudget):
        trigger.certain(hostile, 0, 0)
    with pytest.raises(OverBudget):
        _trigger("(?:a|aa)+[^a](?<!!)b").hold("a" * 60 + "!b", 0)
    with pytest.raises(OverBudget):
        _trigger("(?:a|aa)+(?(?=!)c|d)").final(hostile + "d", 0, beyond=1)


def _random_trigger(grammar: Grammar, flags: str) -> PatternTrigger:
    while True:
        try:
            return _trigger(flags + grammar.pattern(grammar.rng.choice((1, 2, 3))))
        except DialectError:
            continue


def _check_stream(trigger: PatternTrigger, text: str, beyond: int) -> None:
    """Stream a text element by element and compare every answer with those of the whole."""
    floor = known = 0
    first: Certain | None = None
    for length in range(beyond, len(text) + 1):
        part = text[:length]
        found = trigger.certain(part, floor, known, beyond=beyond)
        assert found is None or (found.decided, found.start >= floor) == (length, True)
        if found is not None:
            first = found
            break
        hold = trigger.hold(part, floor, beyond=beyond)
        assert hold >= floor
        floor, known = hold, length
    whole = trigger.certain(text, 0, 0, beyond=beyond)
    assert whole == first
    final = trigger.final(text, 0, beyond=beyond)
    assert first is None or final is not None
    assert first is not None or final is None or final.start >= floor


@pytest.mark.parametrize("words", [SMALL, BROAD])
def test_stream_of_single_characters_gives_what_the_whole_text_gives(words: Vocabulary) -> None:
    """Hits, decision positions and released text are the same for any cutting."""
    rng = Random(11)
    for _ in range(250):
        grammar = Grammar(rng, words)
        trigger = _random_trigger(grammar, rng.choice(("", "(?m)", "(?i)")))
        for _ in range(4):
            text = grammar.text(9)
            _check_stream(trigger, text, 0)
            _check_stream(trigger, text, rng.randint(0, len(text)))


def test_positions_do_not_depend_on_how_astral_characters_are_given() -> None:
    """Split into halves or whole, the same characters match."""
    rng = Random(12)
    for _ in range(300):
        grammar = Grammar(rng, BROAD)
        trigger = _random_trigger(grammar, "")
        text = join_units(grammar.text(8))
        units = split_units(text)
        whole, split = trigger.final(text, 0), trigger.final(units, 0)
        assert (whole is None) == (split is None)
        if whole is not None and split is not None:
            assert len(split_units(text[: whole.start])) <= split.start
            assert len(split_units(text[: whole.end])) >= split.end
        assert len(split_units(text[: trigger.hold(text, 0)])) <= trigger.hold(units, 0)
