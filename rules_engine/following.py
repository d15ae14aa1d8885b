"""Where matches of rules that hold may have begun: followed piece by piece, for a safe release.

Without a beginning in sight nothing has to be held, so what tells where matches may begin says
which patterns are asked at all. Rules that begin alike are asked together for that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from rules_engine.automaton import Marks
from rules_engine.bunches import Bunch
from rules_engine.growing import GrowingText
from rules_engine.progress import FREE, PATIENCE, Progress
from rules_engine.roster import Roster
from rules_engine.scanner.literals import NO_TAIL, LiteralStream
from rules_engine.triggers.pattern import OverBudget

_NO_BUNCHES: frozenset[Bunch] = frozenset()
_NONE: frozenset[int] = frozenset()
_TOGETHER = 256  # what has been pending for longer is followed pattern by pattern


class Following:
    """Follows the patterns of a window that hold. Positions are characters of its text.

    `text`, `searches` and `awake` are the window's own, which it goes on to change. `held`:
    patterns that still hold. `beyond`: matches that end there or before do not count.
    """

    def __init__(
        self,
        roster: Roster,
        text: GrowingText,
        searches: defaultdict[int, Progress],
        awake: AbstractSet[int],
        beyond: int,
    ) -> None:
        self.held = roster.holding
        self._roster = roster
        self._text = text
        self._searches = searches
        self._awake = awake
        self._beyond = beyond
        self._before = 0
        # Where a match may have begun, now and before the newest piece; and of which patterns
        # the end of the text may be the beginning, then and now. Under a bunch's key stands the
        # first of its patterns but those that are followed alone, which are those that are awake,
        # and those that have been pending for long.
        self._pending: dict[int, int] = {}
        self._marks: dict[int, int] = {}
        self._tail = self._marked_tail = NO_TAIL
        self._begun = roster.matcher.beginnings.open()
        self._marked_begun = self._begun.state
        self._open = set(roster.anyhow)
        self._bunches = _NO_BUNCHES  # of which a beginning stands in the text
        self._witnesses: dict[Bunch, int] = {}
        self._alone = (self._awake & roster.bunched.keys()) or _NONE

    # ---- with each piece

    def settle(self, prefix: str) -> None:
        """The text begins with `prefix`: only matches that reach beyond it are of interest."""
        for number in self.held.intersection(self._begun.feed(prefix)):
            self._open.add(number)
            self.follow_alone(number)
        self._tail = self._roster.tail(self._begun.state, prefix)
        for number in self._open.union(self._tail.asked):
            trigger = self._roster.triggers[number]
            try:
                floor = trigger.hold(prefix, 0, beyond=self._beyond)
            except OverBudget:
                floor = 0
            if floor < len(prefix):
                self._pending[number] = floor

    def mark(self, before: int) -> None:
        """A piece is about to be read, of a text that was `before` long."""
        self._before = before
        self._marks, self._marked_tail = self._pending, self._tail
        self._marked_begun = self._begun.state

    def follow(self, piece: str) -> Sequence[int]:
        """Find where matches may have begun; returns the patterns that are over their budget."""
        begun = self._begun
        for marks in begun.completed(piece):
            self._begin(marks)
        begins = len(begun.state.text)
        end = self._text.end(begins + 1) if begins else ""
        self._tail = self._roster.tail(begun.state, end) if begins else NO_TAIL
        if self.held is not self._roster.holding:
            self._tail = self._tail.among(self.held)
        asked = self._tail.asked
        if not (self._open or self._bunches or asked):
            self._pending = {}
            return ()
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
        return aside

    def let_go(self, number: int, held: frozenset[int]) -> None:
        """No rule that this pattern belongs to holds anything any more; `held`: what is left."""
        self.held = held
        self._open.discard(number)
        self._alone -= {number}
        if number in self._tail.lengths:
            self._tail = self._tail.among(held)
        if number in self._pending:
            # The marks are the same mapping until the piece has been followed.
            self._pending = {n: floor for n, floor in self._pending.items() if n != number}
        if not held:
            self._pending = {}

    def drop(self) -> None:
        """None holds any more. What was marked stays, for those that were just hit."""
        self.held = _NONE
        self._pending = {}
        self._bunches, self._alone = _NO_BUNCHES, _NONE
        self._tail = NO_TAIL

    def follow_alone(self, number: int) -> None:
        """Ask a pattern itself from now on, if it was asked together with others."""
        bunch = self._roster.bunched.get(number)
        if bunch is None or number in self._alone:
            return
        floor = self._floor_in(self._marks, number)
        if floor is not None:
            self._marks[number] = floor
        self._alone |= {number}
        self._open.add(number)

    # ---- what is asked

    def holds_back(self) -> bool:
        """Whether `hold` is less than the text's length."""
        return bool(self._pending or self._tail.longest)

    def hold(self) -> int:
        """Length of the prefix that no pattern can still match on."""
        position = self._text.length - self._tail.longest
        return min(position, *self._pending.values()) if self._pending else position

    def hold_at(self, text: str, hit_now: frozenset[int]) -> int:
        """The same when the text was as long as `text`, which ends in the newest piece.

        `hit_now`: patterns that held until the piece came.
        """
        held = self.held | hit_now
        if not held:  # nor is the text followed any more
            return len(text)
        numbers = self._may_have_begun(text) & held
        return min((self._hold_in(text, number) for number in numbers), default=len(text))

    def waits(self, number: int) -> bool:
        """Whether a match of a pattern may have been pending before the newest piece."""
        return self.mark_of(number) != self._before

    def mark_of(self, number: int) -> int:
        """Where a match of a pattern may have begun before the newest piece."""
        floor = self._floor_in(self._marks, number)
        return self._before - self._marked_tail.lengths.get(number, 0) if floor is None else floor

    def begun(self, number: int) -> int | None:
        """From where on a match is pending, None for no match. A tail is not yet a match."""
        floor = self._floor_in(self._pending, number)
        if floor is None and number in self._roster.anyhow:
            return self._text.length
        return floor

    def floor(self, number: int) -> int:
        """Where a match of a pattern may begin at the earliest."""
        floor = self._floor_in(self._pending, number)
        length = self._text.length
        return length - self._tail.lengths.get(number, 0) if floor is None else floor

    def undecided(self) -> set[int]:
        """Patterns of which a match may be pending."""
        return self._roster.floored(self._pending).union(self._roster.anyhow)

    # ---- how it is found out

    def _begin(self, marks: Marks) -> None:
        """Take note of the matches that may have begun where some strings end."""
        begun = self._roster.begun(marks)
        if begun.bunches:
            self._bunches |= begun.bunches
        self._open |= self.held & begun.numbers
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
                    self.follow_alone(number)
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
        text, length = self._text.whole, self._text.length
        begun = bunch.trigger.hold(text, floor)
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
            position = trigger.hold(text, begun, beyond=self._beyond_of(begun))
            if position < least:
                least, self._witnesses[bunch] = position, number
            if position == begun:
                break
        return least

    def _asleep(self, bunch: Bunch) -> frozenset[int]:
        """Give the patterns that are followed together."""
        return self.held & (bunch.members - self._alone)

    def _floor_in(self, floors: Mapping[int, int], number: int) -> int | None:
        """Look up from where on a match is pending at the earliest, None for no match."""
        floor = floors.get(number)
        if floor is None and number not in self._alone:
            bunch = self._roster.bunched.get(number)
            return None if bunch is None else floors.get(bunch.key)
        return floor

    def _hold(self, number: int, length: int) -> int:
        """Search for where a match of a pattern may have begun; `length` is the text's."""
        floor = self.mark_of(number)
        trigger, search = self._roster.triggers[number], self._searches.get(number)
        if search is not None and length < search.due:
            return floor
        if length - floor > FREE:
            search = self._searches[number]
            search.charge(trigger.pattern, self._text.whole, floor)
        position = trigger.hold(self._text.whole, floor, beyond=self._beyond_of(floor))
        if search is not None or length - position > PATIENCE:
            self._searches[number].put_off(length, position)
        return position

    def _hold_in(self, text: str, number: int) -> int:
        floor = self.mark_of(number)
        try:
            return self._roster.triggers[number].hold(text, floor, beyond=self._beyond_of(floor))
        except OverBudget:
            return len(text)

    def _beyond_of(self, floor: int) -> int:
        """Give the end of the prefix while a match may still begin in it."""
        return self._beyond if floor <= self._beyond else 0

    def _may_have_begun(self, text: str) -> set[int]:
        """Of which patterns a match may stand in `text`, or begin with its end.

        `text` is the window's, up to some place in the newest piece. Of no other pattern can
        anything be held there: what was pending before the piece is marked, and the rest begins
        with a string that is completed in the piece or, by its end, not yet.
        """
        begun = LiteralStream(self._marked_begun)
        completed = begun.completed(text[self._before :])
        numbers = self._roster.floored(self._marks).union(self._roster.anyhow, *completed)
        if begun.state.text:
            tail = self._roster.tail(begun.state, text)
            numbers.update(tail.lengths, tail.asked)
        return numbers
