"""Per-surface windows: how far each trigger has searched, decision and hold positions.

A window is one text that only grows: a choice's prose, its reasoning, or the source that a call
adds at one place. Positions are characters of that text. Results depend on the text alone,
never on how it was cut into pieces.

A pattern is searched only where it can make a difference. The scanner reports with which piece a
match may have come: until then no match is certain, and the pattern sleeps. What tells where
matches may begin does the same for the hold positions of rules that interrupt: without a
beginning in sight nothing has to be held. Rules that begin alike are asked together for that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from rules_engine.automaton import Marks
from rules_engine.bunches import Bunch
from rules_engine.growing import GrowingText, OnText
from rules_engine.matcher import Matcher
from rules_engine.policy import ReleaseMode
from rules_engine.progress import FREE, PATIENCE, Progress
from rules_engine.roster import Roster, Watch
from rules_engine.ruleset import LiveRule
from rules_engine.scanner.literals import NO_TAIL, LiteralStream
from rules_engine.triggers.pattern import Certain, OverBudget, Span

__all__ = ["Found", "Watch", "Window"]

_NONE: frozenset[int] = frozenset()  # one for all: each takes 216 bytes
_NO_BUNCHES: frozenset[Bunch] = frozenset()
_TOGETHER = 256  # what has been pending for longer is followed pattern by pattern


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
        self._text = GrowingText()
        self.quarantined: list[LiveRule] = []
        if not isinstance(watches, Roster):
            watches = Roster.of(tuple(watches), matcher)
        self._roster = roster = watches
        self._release = release
        self._beyond = len(prefix)
        self._live = roster.numbers
        self._held = roster.holding
        self._gone = _NONE
        self._hit_now = _NONE  # held patterns of rules that just hit
        self._before = 0
        self._searches: dict[int, Progress] = {}
        self._scanner = roster.matcher.scanner
        self._stream = self._scanner.open()
        self._always = (self._scanner.blind & roster.numbers) or _NONE
        self._awake = set(self._always)
        # Of patterns that hold: where a match may have begun, now and before the newest piece;
        # and of which patterns the end of the text may be the beginning, then and now.
        # Under a bunch's key stands the first of its patterns but those that are followed alone,
        # which are those that are awake, and those that have been pending for long.
        self._pending: dict[int, int] = {}
        self._marks: dict[int, int] = {}
        self._tail = self._marked_tail = NO_TAIL
        self._begun = roster.matcher.beginnings.open() if roster.holding else None
        self._marked_begun = self._begun.state if self._begun is not None else None
        self._open = set(roster.anyhow)
        self._bunches = _NO_BUNCHES  # of which a beginning stands in the text
        self._witnesses: dict[Bunch, int] = {}
        self._alone = (self._always & roster.bunched.keys()) or _NONE
        if prefix:
            self._settle(prefix)

    def feed(self, piece: str) -> tuple[Found, ...]:
        """Append `piece`; returns what became certain, in the order of the rules."""
        self._before = self._text.length
        self._text.append(piece)
        self._marks, self._marked_tail = self._pending, self._tail
        self._hit_now = _NONE
        begun = self._begun
        if begun is not None:
            self._marked_begun = begun.state
        if not piece:
            return ()
        reported = self._stream.feed(piece)
        if reported:
            self._wake(reported)
        found = self._ask_certain(reported) if self._awake else ()
        if begun is not None and self._held:
            self._follow(begun, piece)
        return found

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
        """Length of the prefix that no holding rule can still match on."""
        length = self._text.length
        if self._release is not ReleaseMode.SAFE:
            if not self._pending:  # nor is any bunch, then
                return length
            asleep = (n for bunch in self._bunches for n in self._asleep(bunch))
            numbers = chain((n for n in self._pending if n >= 0), asleep)
            floors = ((n, self._floor_in(self._pending, n)) for n in numbers)
            known = (self._position(n, self.text, at) for n, at in floors if at is not None)
            return min(known, default=length)
        position = length - self._tail.longest
        return min(position, *self._pending.values()) if self._pending else position

    def hold_at(self, cut: int) -> int:
        """The hold position when the text was `cut` long; `cut` lies in the newest piece."""
        text = self.text[:cut]
        numbers = self._may_have_begun(text) & (self._held | self._hit_now)
        return min((self._position(n, text, self._mark(n)) for n in numbers), default=cut)

    def holds_back(self) -> bool:
        """Whether `hold` is less than the text's length."""
        if self._release is ReleaseMode.SAFE:
            return bool(self._pending or self._tail.longest)
        return bool(self._pending) and self.hold() < self._text.length

    def drop_holds(self) -> None:
        """No rule interrupts here any more: they go on as rules that only remind."""
        length = self._text.length
        for number in self._held:
            floor = self._floor_in(self._pending, number)
            begun = length - self._tail.lengths.get(number, 0)
            self._search(number).floor = begun if floor is None else floor
        self._held = frozenset()
        self._pending = {}
        self._bunches, self._alone = _NO_BUNCHES, _NONE
        self._tail = NO_TAIL

    # ---- what is certain

    def _search(self, number: int) -> Progress:
        search = self._searches.get(number)
        if search is None:
            search = self._searches[number] = Progress()
        return search

    def _wake(self, reported: Collection[int]) -> None:
        """Searches are needed for `reported`; what slept had nothing certain until this piece."""
        length = self._text.length
        for number in reported:
            if number not in self._live:
                continue
            search = self._search(number)
            if number not in self._awake:
                search.known = max(search.known, self._before)
                self._awake.add(number)
                if number in self._held:
                    self._follow_alone(number)
            lag = self._scanner.lag(number)
            search.until = None if lag is None else length + lag
            search.touched = True

    def _ask_certain(self, reported: Collection[int]) -> tuple[Found, ...]:
        hits: dict[int, Certain] = {}
        for number in tuple(self._awake):
            search = self._search(number)
            if self._text.length < search.due:
                continue
            if number not in reported and self._rests(number, search):
                self._awake.discard(number)
                continue
            try:
                hit = self._certain(number, search)
            except OverBudget:
                self._set_aside(number)
                continue
            if hit is not None:
                hits[number] = hit
        return self._told(hits) if hits else ()

    def _rests(self, number: int, search: Progress) -> bool:
        """Whether a held pattern waited for more of a match that can come no more."""
        return (
            search.until is None
            and number in self._held
            and self._mark(number) == self._before
            and number not in self._always
        )

    def _mark(self, number: int) -> int:
        """Where a match of a held pattern may have begun before the newest piece."""
        floor = self._floor_in(self._marks, number)
        return self._before - self._marked_tail.lengths.get(number, 0) if floor is None else floor

    def _floor(self, number: int, search: Progress) -> int:
        return self._mark(number) if number in self._held else search.floor

    def _certain(self, number: int, search: Progress) -> Certain | None:
        length = self._text.length
        floor = self._floor(number, search)
        trigger = self._roster.triggers[number]
        if length - floor > FREE and number in self._held:
            search.charge(trigger.pattern, self.text, floor)
        known, search.known = search.known, length
        hit = trigger.certain(self.text, floor, known, beyond=self._beyond_of(floor))
        if hit is not None:
            return hit
        if number not in self._held:
            search.floor = trigger.hold(self.text, floor, beyond=self._beyond_of(floor))
            search.put_off(length, search.floor)
            search.touched = search.floor < length
            if search.touched:
                search.charge(trigger.pattern, self.text, search.floor)
        settled = search.until is not None and length >= search.until
        idle = number not in self._held and not search.touched
        if (settled or idle) and number not in self._always:
            self._awake.discard(number)
        return None

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
        self._open.discard(number)
        self._alone -= {number}
        if number in self._tail.lengths:
            self._tail = self._tail.among(self._held)
        if number in self._pending:
            # The marks are the same mapping until the piece has been followed.
            self._pending = {n: floor for n, floor in self._pending.items() if n != number}
        if not self._held:
            self._pending = {}

    def _follow(self, begun: LiteralStream, piece: str) -> None:
        """Find where matches may have begun, with what came up to the end of `piece`."""
        for marks in begun.completed(piece):
            self._begin(marks)
        begins = len(begun.state.text)
        end = self._text.end(begins + 1) if begins else ""
        self._tail = self._roster.tail(begun.state, end) if begins else NO_TAIL
        if self._held is not self._roster.holding:
            self._tail = self._tail.among(self._held)
        asked = self._tail.asked
        if not (self._open or self._bunches or asked):
            self._pending = {}
            return
        pending: dict[int, int] = {}
        aside: list[int] = []
        length = self._text.length
        if self._roster.bunched:
            asked = self._ask_bunches(asked, pending)
        for number in self._open.union(asked) if asked else self._open:
            try:
                floor = self._hold(number, length)
            except OverBudget:
                aside.append(number)
                continue
            if floor < length:
                pending[number] = floor
        self._open.difference_update(
            [n for n in self._open if n not in pending and n not in self._roster.anyhow]
        )
        self._pending = pending
        if self._alone:
            self._alone = frozenset(n for n in self._alone if n in pending or n in self._awake)
        for number in aside:
            self._set_aside(number)

    def _begin(self, marks: Marks) -> None:
        """Take note of the matches that may have begun where some strings end."""
        begun = self._roster.begun(marks)
        if begun.bunches:
            self._bunches |= begun.bunches
        self._open |= self._held & begun.numbers
        if self._alone:
            self._open |= self._alone & marks

    def _ask_bunches(self, asked: Iterable[int], pending: dict[int, int]) -> tuple[int, ...]:
        """Search for what is asked together; gives which of `asked` are still to be asked."""
        left: list[int] = []
        for number in asked:
            bunch = self._roster.bunched.get(number)
            if bunch is None or number in self._alone:
                left.append(number)
            else:
                self._bunches |= {bunch}
        for bunch in self._bunches:
            try:
                floor = self._hold_together(bunch)
            except OverBudget:  # whose fault it is will show when each is asked alone
                for number in self._asleep(bunch):
                    self._follow_alone(number)
                floor = self._text.length
            if floor < self._text.length:
                pending[bunch.key] = floor
            else:
                self._bunches -= {bunch}
        return tuple(left)

    def _hold_together(self, bunch: Bunch) -> int:
        """Search for where a match of one of them may have begun: all of them, then by one.

        Raises OverBudget where that takes too long, or may once the text has grown.
        """
        floor = self._marks.get(bunch.key, self._before - self._marked_tail.longest)
        if self._before - floor > _TOGETHER:
            raise OverBudget(bunch.key)
        length = self._text.length
        begun = bunch.trigger.hold(self.text, floor)
        if begun == length:
            return length
        # Mostly the first that is asked has begun there. If none has, it was a pattern that is
        # not held any more, or is followed alone.
        asleep = self._asleep(bunch)
        witness = self._witnesses.get(bunch)
        first = (witness,) if witness in asleep else ()
        least = length
        for number in chain(first, asleep):
            trigger = self._roster.triggers[number]
            position = trigger.hold(self.text, begun, beyond=self._beyond_of(begun))
            if position < least:
                least, self._witnesses[bunch] = position, number
            if position == begun:
                break
        return least

    def _asleep(self, bunch: Bunch) -> frozenset[int]:
        """Give the patterns that are followed together."""
        return self._held & (bunch.members - self._alone)

    def _follow_alone(self, number: int) -> None:
        """Ask a pattern itself from now on, if it was asked together with others."""
        bunch = self._roster.bunched.get(number)
        if bunch is None or number in self._alone:
            return
        floor = self._floor_in(self._marks, number)
        if floor is not None:
            self._marks[number] = floor
        self._alone |= {number}
        self._open.add(number)

    def _floor_in(self, floors: Mapping[int, int], number: int) -> int | None:
        """Look up from where on a match is pending at the earliest, None for no match."""
        floor = floors.get(number)
        if floor is None and number not in self._alone:
            bunch = self._roster.bunched.get(number)
            return None if bunch is None else floors.get(bunch.key)
        return floor

    def _hold(self, number: int, length: int) -> int:
        """Search for where a match of a held pattern may have begun; `length` is the text's."""
        floor = self._mark(number)
        trigger, search = self._roster.triggers[number], self._searches.get(number)
        if search is not None and length < search.due:
            return floor
        if length - floor > FREE:
            search = self._search(number)
            search.charge(trigger.pattern, self.text, floor)
        beyond = self._beyond if floor <= self._beyond else 0
        position = trigger.hold(self.text, floor, beyond=beyond)
        if search is not None or length - position > PATIENCE:
            self._search(number).put_off(length, position)
        return position

    def _position(self, number: int, text: str, floor: int) -> int:
        trigger = self._roster.triggers[number]
        try:
            if self._release is ReleaseMode.SAFE:
                return trigger.hold(text, floor, beyond=self._beyond_of(floor))
            complete = trigger.final(text, floor, beyond=self._beyond_of(floor))
        except OverBudget:
            return len(text)
        return complete.start if complete else len(text)

    def _may_have_begun(self, text: str) -> set[int]:
        """Of which patterns a match may stand in `text`, or begin with its end.

        `text` is the window's, up to some place in the newest piece. Of no other pattern that
        holds can anything be held there: what was pending before the piece is marked, and the
        rest begins with a string that is completed in the piece or, by its end, not yet.
        """
        if self._marked_begun is None:
            return set()
        begun = LiteralStream(self._marked_begun)
        completed = begun.completed(text[self._before :])
        numbers = self._roster.floored(self._marks).union(self._roster.anyhow, *completed)
        if self._release is ReleaseMode.SAFE and begun.state.text:
            tail = self._roster.tail(begun.state, text)
            numbers.update(tail.lengths, tail.asked)
        return numbers

    # ---- where the text begins and ends

    def _settle(self, prefix: str) -> None:
        """Read what earlier attempts said: only matches that reach beyond it are of interest."""
        self._text = GrowingText(prefix)
        self._wake(self._stream.feed(prefix))
        if self._begun is None:
            return
        for number in self._held.intersection(self._begun.feed(prefix)):
            self._open.add(number)
            self._follow_alone(number)
        self._tail = self._roster.tail(self._begun.state, prefix)
        for number in self._open.union(self._tail.asked):
            trigger = self._roster.triggers[number]
            try:
                floor = trigger.hold(prefix, 0, beyond=self._beyond)
            except OverBudget:
                floor = 0
            if floor < len(prefix):
                self._pending[number] = floor

    def _undecided(self) -> frozenset[int]:
        """Patterns that may match yet: of others nothing was reported, and nothing is pending."""
        begun = self._roster.floored(self._pending).union(self._roster.anyhow, self._always)
        return self._live.intersection(begun.union(self._searches))

    def _final(self, number: int) -> Span | None:
        """Ask a pattern for its first match, unless it is known that none is pending."""
        search = self._searches.get(number)
        if number in self._held:
            begun = self._floor_in(self._pending, number)
            if begun is None and number not in self._roster.anyhow:
                return None  # a tail is not yet a match
            floor = self._text.length if begun is None else begun
        elif number in self._always or (search is not None and search.touched):
            floor = 0 if search is None else search.floor
        else:
            return None
        trigger = self._roster.triggers[number]
        try:
            return trigger.final(self.text, floor, beyond=self._beyond_of(floor))
        except OverBudget:
            self._set_aside(number)
            return None
