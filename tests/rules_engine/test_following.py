"""Where matches of rules that hold may have begun, piece by piece."""

from __future__ import annotations

from collections import defaultdict

from rules_engine.following import Following
from rules_engine.growing import GrowingText
from rules_engine.progress import Progress
from rules_engine.roster import Roster, Watch
from tests.support.window_trials import live_rule

NOTHING: frozenset[int] = frozenset()


class Reader:
    """A text that is followed as a window follows it, without searching it for matches."""

    def __init__(self, *conditions: str, prefix: str = "") -> None:
        watches = tuple(Watch(live_rule(each, [each]), holds=True) for each in conditions)
        self.roster = Roster.of(watches)
        self.text = GrowingText(prefix)
        searches: defaultdict[int, Progress] = defaultdict(Progress)
        self.followed = Following(self.roster, self.text, searches, set(), len(prefix))
        if prefix:
            self.followed.settle(prefix)

    def feed(self, piece: str) -> list[str]:
        """Read on; returns the conditions that took too long."""
        self.followed.mark(self.text.length)
        self.text.append(piece)
        return [self.condition(number) for number in self.followed.follow(piece)]

    def condition(self, number: int) -> str:
        return self.roster.triggers[number].pattern.source

    def number(self, condition: str) -> int:
        return self.roster.matcher.numbers[condition]


def test_holds_from_where_a_match_may_begin_until_it_cannot() -> None:
    """A beginning holds, a beginning that went on otherwise does not."""
    text = Reader("secret key")
    for piece, held in (("a ", 2), ("se", 2), ("cret ", 2), ("k", 2), ("nock", 14)):
        text.feed(piece)
        assert text.followed.hold() == held
        assert text.followed.holds_back() == (held < text.text.length)


def test_earlier_ends_of_the_newest_piece_are_told_as_they_were() -> None:
    """What a piece went on with changes nothing of what held before it was there."""
    text = Reader("secret key", "x!")
    text.feed("a se")
    text.feed("cret x y")
    assert text.followed.hold() == 12
    held = {cut: text.followed.hold_at(text.text.whole[:cut], NOTHING) for cut in range(5, 13)}
    assert held == {5: 2, 6: 2, 7: 2, 8: 2, 9: 2, 10: 9, 11: 11, 12: 12}


def test_pattern_that_is_let_go_holds_no_more_but_where_it_hit() -> None:
    """A rule that has hit lets go of its beginnings; the hit itself stays held."""
    text = Reader("secret", "sec:")
    hit = text.number("secret")
    text.feed("a sec")
    text.followed.mark(text.text.length)
    text.text.append("ret")
    text.followed.let_go(hit, frozenset({text.number("sec:")}))
    text.followed.follow("ret")
    assert text.followed.hold() == 8
    assert text.followed.hold_at("a secret", NOTHING) == 8
    assert text.followed.hold_at("a secret", frozenset({hit})) == 2


def test_what_is_dropped_holds_no_more_and_knows_where_it_stood() -> None:
    """Whoever searches on without holding begins where a match may have begun."""
    text = Reader("secret key", "zero")
    text.feed("a secret")
    floors = [text.followed.floor(text.number(each)) for each in ("secret key", "zero")]
    assert floors == [2, 8]
    text.followed.drop()
    assert text.followed.hold() == 8
    assert not text.followed.holds_back()


def test_only_what_reaches_beyond_the_prefix_is_held() -> None:
    """What earlier attempts said is judged, but a match may be built out of two attempts."""
    assert Reader("one two", prefix="one two ").followed.hold() == 8
    assert Reader("one two", prefix="see one").followed.hold() == 4


def test_pattern_over_its_time_is_told_and_the_others_are_followed() -> None:
    """One that takes too long costs no other its hold."""
    text = Reader("(?:a|aa)+[xy]", "bcd")
    assert text.feed("a" * 3000 + "bc") == ["(?:a|aa)+[xy]"]
    text.followed.let_go(text.number("(?:a|aa)+[xy]"), frozenset({text.number("bcd")}))
    assert text.followed.hold() == 3000
