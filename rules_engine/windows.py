"""Per-surface windows: how far each trigger has searched, decision and hold positions.

A window is one text that only grows: a choice's prose, its reasoning, or the source that a call
adds at one place. Positions are characters of that text. Results depend on the text alone,
never on how it was cut into pieces.

A pattern is searched only where it can make a difference. The scanner reports with which piece a
match may have come: until then no match is certain or complete, and the pattern sleeps. Under a
safe release patterns that hold are followed as well, from where a match may begin; under `cut`
they hold back no more than what is complete, so they sleep as the others do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rules_engine.following import Following
from rules_engine.growing import GrowingText, OnText
from rules_engine.matcher import Matcher
from rules_engine.policy import ReleaseMode
from rules_engine.progress import FREE, Progress
from rules_engine.roster import Roster, Watch
from rules_engine.ruleset import LiveRule
from rules_engine.triggers.pattern import Certain, OverBudget, Span

__all__ = ["Found", "Watch", "Window"]

_LINE_ENDS = ("\n", "\r", "\u2028", "\u2029")
_NONE: frozenset[int] = frozenset()  # one for all: each takes 216 bytes


@dataclass(frozen=True, slots=True)
class Found:
    """A rule matched: span and decision position; `at_end`: only the end of the text decided."""

    live: LiveRule
    start: int
    end: int
    decided: int
    at_end: bool = False


class Window(OnText):
    """One growing text under a fixed set of rules; each rule hits at most once.

    `prefix`: text of earlier attempts in front of this one's. Matches wholly inside it do not
    count; `release` says which undecided text `hold` keeps back. `matcher`: the scanners of a
    rule set that holds the rules, so that they need not be made for this window alone; a roster
    brings its own.
    """

    def __init__(
        self,
        watches: Iterable[Watch] | Roster,
        release: ReleaseMode = ReleaseMode.SAFE,
        prefix: str = "",
        matcher: Matcher | None = None,
    ) -> None:
        self._text = GrowingText(prefix)
        self.quarantined: list[LiveRule] = []
        if not isinstance(watches, Roster):
            watches = Roster.of(tuple(watches), matcher)
        self._roster = roster = watches
        self._beyond = len(prefix)
        self._live = roster.numbers
        self._held = roster.holding
        self._gone = _NONE
        self._hit_now = _NONE  # held patterns of rules that just hit
        self._before = 0
        self._searches: defaultdict[int, Progress] = defaultdict(Progress)
        self._scanner = roster.matcher.scanner
        self._stream = self._scanner.open()
        self._always = (self._scanner.blind & roster.numbers) or _NONE
        self._awake = set(self._always)
        # Without a following, of patterns that hold: floors before the newest piece of those
        # of which a match may have been complete then, or since.
        self._marks: dict[int, int] = {}
        self._following: Following | None = None
        if roster.holding and release is ReleaseMode.SAFE:
            text, searches, awake = self._text, self._searches, self._awake
            self._following = Following(roster, text, searches, awake, self._beyond)
        if prefix:
            self._settle(prefix)

    def feed(self, piece: str) -> tuple[Found, ...]:
        """Append `piece`; returns what became certain, in the order of the rules."""
        return self.read(piece) or ()

    def read(self, piece: str) -> tuple[Found, ...] | None:
        """Do the same; None, as for most pieces, where nothing did and nothing is held."""
        self._before = self._text.length
        self._text.append(piece)
        self._hit_now = _NONE
        following = self._following
        if following is not None:
            following.mark(self._before)
        elif self._held and (self._awake or self._marks):
            self._marks = {n: self._searches[n].floor for n in self._awake & self._held}
        if not piece:
            return ()
        reported = self._stream.feed(piece)
        if reported:
            self._wake(reported)
        found = self._ask_certain(reported) if self._awake else ()
        if following is not None and self._held:
            for number in following.follow(piece):
                self._set_aside(number)
        elif not (found or self._awake or self.quarantined):
            return None
        return found or (() if self.quarantined or self.holds_back() else None)

    def close(self) -> tuple[Found, ...]:
        """The text is finished: every pattern's final form decides what is still open."""
        self._hit_now = _NONE
        length = self._text.length
        hits: dict[int, Certain] = {}
        for number in sorted(self._undecided()):
            span = self._final(number)
            if span is not None:
                hits[number] = Certain(span.start, span.end, length)
        return self._told(hits, at_end=True) if hits else ()

    def hold(self) -> int:
        """Length of the prefix that no holding rule can still match on.

        Under `cut`: that no holding rule matches on, unless what comes undoes the match.
        """
        if self._following is not None:
            return self._following.hold()
        awake = self._awake & self._held if self._awake else _NONE
        if not awake:
            return self._text.length
        floors = ((number, self._searches[number].floor) for number in awake)
        return min(self._complete(number, self.text, floor) for number, floor in floors)

    def hold_at(self, cut: int) -> int:
        """The hold position when the text was `cut` long; `cut` lies in the newest piece."""
        if self._following is not None:
            return self._following.hold_at(self.text[:cut], self._hit_now)
        numbers = self._marks.keys() & (self._held | self._hit_now)
        if not numbers:
            return cut
        text = self.text[:cut]
        return min(self._complete(number, text, self._marks[number]) for number in numbers)

    def holds_back(self) -> bool:
        """Whether `hold` is less than the text's length."""
        if self._following is not None:
            return self._following.holds_back()
        return bool(self._awake) and self.hold() < self._text.length

    def drop_holds(self) -> None:
        """No rule interrupts here any more: they go on as rules that only remind."""
        if self._following is not None:
            for number in self._held:
                self._searches[number].floor = self._following.floor(number)
            self._following.drop()
        self._held = _NONE

    # ---- what is certain

    def _wake(self, reported: Collection[int]) -> None:
        """Searches are needed for `reported`; what slept had nothing certain until this piece."""
        length = self._text.length
        for number in reported:
            if number not in self._live:
                continue
            search = self._searches[number]
            if number not in self._awake:
                search.known = max(search.known, self._before)
                self._awake.add(number)
                if not search.touched:
                    search.floor = max(search.floor, self._earliest(number))
                if number in self._held:
                    self._begin_hold(number, search)
            lag = self._scanner.lag(number)
            search.until = None if lag is None else length + lag
            search.touched = True

    def _earliest(self, number: int) -> int:
        """Where a match may begin of a pattern that slept, with none pending: it ends from now on.

        Of one that was pending when it went to sleep, a match that only the end decides may stand.
        """
        pattern = self._roster.triggers[number].pattern
        if pattern.max_width is not None:
            return max(0, self._before + 1 - pattern.max_width)
        if pattern.line_bounded:
            return 1 + max(self.text.rfind(end, 0, self._before) for end in _LINE_ENDS)
        return 0

    def _begin_hold(self, number: int, search: Progress) -> None:
        if self._following is not None:
            self._following.follow_alone(number)
        else:
            self._marks[number] = search.floor

    def _ask_certain(self, reported: Collection[int]) -> tuple[Found, ...]:
        hits: dict[int, Certain] = {}
        for number in tuple(self._awake):
            search = self._searches[number]
            if self._text.length < search.due:
                continue
            following = self._followed(number)
            if following is not None and number not in reported and self._rests(following, number):
                self._awake.discard(number)
                continue
            try:
                hit = self._certain(number, search, following)
            except OverBudget:
                self._set_aside(number)
                continue
            if hit is not None:
                hits[number] = hit
        return self._told(hits) if hits else ()

    def _followed(self, number: int) -> Following | None:
        """What follows a pattern, if anything does."""
        return self._following if number in self._held else None

    def _rests(self, following: Following, number: int) -> bool:
        """Whether a pattern that is followed waited for more of a match that can come no more."""
        waits = self._searches[number].until is not None or following.waits(number)
        return not waits and number not in self._always

    def _certain(
        self, number: int, search: Progress, following: Following | None
    ) -> Certain | None:
        length = self._text.length
        floor = search.floor if following is None else following.mark_of(number)
        trigger = self._roster.triggers[number]
        if length - floor > FREE and following is not None:
            search.charge(trigger.pattern, self.text, floor)
        known, search.known = search.known, length
        hit = trigger.certain(self.text, floor, known, beyond=self._beyond_of(floor))
        if hit is not None:
            return hit
        if following is None:
            search.floor = trigger.hold(self.text, floor, beyond=self._beyond_of(floor))
            search.put_off(length, search.floor)
            search.touched = search.floor < length
            if search.touched:
                search.charge(trigger.pattern, self.text, search.floor)
        settled = search.until is not None and length >= search.until
        if following is None:
            settled = not search.touched or (settled and not self._stays(number, search.floor))
        if settled and number not in self._always:
            self._awake.discard(number)
        return None

    def _stays(self, number: int, floor: int) -> bool:
        """Whether a match holds something back that only the end of the text decides."""
        if number not in self._held:
            return False
        return self._complete(number, self.text, floor) < self._text.length

    def _beyond_of(self, floor: int) -> int:
        """Give the end of the prefix while a match may still begin in it."""
        return self._beyond if floor <= self._beyond else 0

    def _told(self, hits: dict[int, Certain], *, at_end: bool = False) -> tuple[Found, ...]:
        """Make one hit of each rule: of its patterns the one that is decided first."""
        found: list[Found] = []
        places = sorted({at for n in hits for at in self._roster.owners[n]} - self._gone)
        self._hit_now = self._held.intersection(
            n for at in places for n in self._roster.held_by(at)
        )
        for at in places:
            own = [hits[n] for n in self._roster.parts[at] if n in hits]
            hit = min(own, key=lambda each: each.decided)
            live = self._roster.watches[at].live
            found.append(Found(live, hit.start, hit.end, hit.decided, at_end))
            self._retire(at)
        return tuple(found)

    def _set_aside(self, number: int) -> None:
        for at in self._roster.owners[number]:
            if at not in self._gone:
                self.quarantined.append(self._roster.watches[at].live)
                self._retire(at)

    def _retire(self, at: int) -> None:
        """The rule at this place is searched no more."""
        self._gone |= {at}
        for number in self._roster.parts[at]:
            left = [
                self._roster.watches[o] for o in self._roster.owners[number] if o not in self._gone
            ]
            if not any(watch.holds for watch in left):
                self._let_go(number)
            if not left:
                self._live -= {number}
                self._awake.discard(number)

    # ---- what is held

    def _let_go(self, number: int) -> None:
        """No rule that this pattern belongs to holds anything any more."""
        self._held -= {number}
        if self._following is not None:
            self._following.let_go(number, self._held)

    def _complete(self, number: int, text: str, floor: int) -> int:
        """Where the first match in a text begins, should it end here; its length for none."""
        trigger = self._roster.triggers[number]
        try:
            complete = trigger.final(text, floor, beyond=self._beyond_of(floor))
        except OverBudget:
            return len(text)
        return complete.start if complete else len(text)

    # ---- where the text begins and ends

    def _settle(self, prefix: str) -> None:
        """Read what earlier attempts said: only matches that reach beyond it are of interest."""
        self._wake(self._stream.feed(prefix))
        if self._following is not None:
            self._following.settle(prefix)

    def _undecided(self) -> frozenset[int]:
        """Patterns that may match yet: of others nothing was reported, and nothing is pending."""
        begun = self._always if self._following is None else self._following.undecided()
        return self._live.intersection(self._always.union(begun, self._searches))

    def _final(self, number: int) -> Span | None:
        """Ask a pattern for its first match, unless it is known that none is pending."""
        following = self._followed(number)
        floor = self._touched_from(number) if following is None else following.begun(number)
        if floor is None:
            return None
        trigger = self._roster.triggers[number]
        try:
            return trigger.final(self.text, floor, beyond=self._beyond_of(floor))
        except OverBudget:
            self._set_aside(number)
            return None

    def _touched_from(self, number: int) -> int | None:
        search = self._searches.get(number)
        if search is None:
            return 0 if number in self._always else None
        return search.floor if search.touched or number in self._always else None
