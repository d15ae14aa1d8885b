"""Rules by their patterns."""

from __future__ import annotations

from rules_engine.matcher import Matcher
from rules_engine.roster import Roster, Watch
from tests.support.rules import rule_text, ruleset

RULES = ruleset(
    one=rule_text(condition=["foo", "bar"]),
    two=rule_text(condition=["bar", "[^x]y"]),
)


def _watches(holds: str) -> tuple[Watch, ...]:
    return tuple(Watch(live, each == "h") for live, each in zip(RULES.live, holds, strict=True))


def test_roster_knows_rules_and_patterns_both_ways() -> None:
    """A pattern may belong to several rules; it holds if one of them does."""
    roster = Roster.of(_watches("-h"))
    foo, bar, other = (roster.matcher.numbers[source] for source in ("foo", "bar", "[^x]y"))
    assert roster.parts == ((foo, bar), (bar, other))
    assert roster.owners == {foo: (0,), bar: (0, 1), other: (1,)}
    assert roster.holding == {bar, other}
    assert roster.anyhow == {other}
    assert roster.held_by(0) == ()
    assert roster.held_by(1) == (bar, other)


def test_windows_of_the_same_rules_share_a_roster() -> None:
    """Other rules, or the same held otherwise, have their own."""
    matcher = RULES.matcher
    assert isinstance(matcher, Matcher)
    first = Roster.of(_watches("hh"), matcher)
    assert Roster.of(_watches("hh"), matcher) is first
    assert Roster.of(_watches("-h"), matcher) is not first
    assert Roster.of(_watches("hh")) is not first


def test_shared_rosters_are_few() -> None:
    """However many combinations of rules are asked for, memory is bounded."""
    matcher = RULES.matcher
    assert matcher is not None
    for _ in range(200):
        fresh = ruleset(one=rule_text(condition="foo")).live
        Roster.of(tuple(Watch(live, holds=True) for live in fresh), matcher)
    assert len(matcher.shared) <= 64


def test_ends_of_texts_are_judged_once() -> None:
    """The same end of a text has the same tail."""
    roster = Roster.of(_watches("hh"))
    stream = roster.matcher.beginnings.open()
    stream.feed("a fo")
    tail = roster.tail(stream.state, "a fo")
    assert tail.lengths == {roster.matcher.numbers["foo"]: 2}
    assert roster.tail(stream.state, "b a fo") is tail


def test_floors_are_those_of_patterns_and_of_bunches() -> None:
    """The floor of a bunch is one of each of its patterns that hold."""
    rules = ruleset(
        many=rule_text(condition=[r"import\s+a", r"import\s+b"]), one=rule_text(condition="foo")
    )
    matcher = rules.matcher
    assert matcher is not None
    matcher.bunch(fewest=2)
    (bunch,) = matcher.bunches
    roster = Roster.of(tuple(Watch(live, holds=True) for live in rules.live), matcher)
    foo = matcher.numbers["foo"]
    assert roster.bunches == {bunch}
    assert roster.floored({}) == set()
    assert roster.floored({foo: 3}) == {foo}
    assert roster.floored({foo: 3, bunch.key: 1}) == roster.numbers
