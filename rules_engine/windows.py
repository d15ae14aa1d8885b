"""Per-surface windows: how far each trigger has searched, decision and hold positions.

A window is one text that only grows: a choice's prose, its reasoning, or the source that a call
adds at one place. Positions are characters of that text. Results depend on the text alone,
never on how it was cut into pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rules_engine.policy import ReleaseMode
from rules_engine.ruleset import LiveRule
from rules_engine.triggers.pattern import OverBudget, PatternTrigger

# A candidate that stays open longer than this is searched again only after the text behind it
# has grown by a quarter: linear cost in total, and positions stay exact (they are bisected).
_PATIENCE = 16_384


@dataclass(frozen=True, slots=True)
class Watch:
    """A rule on a window. `holds`: it would interrupt, so text that may still match waits."""

    live: LiveRule
    holds: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A rule matched: span and decision position; `at_end`: only the end of the text decided."""

    live: LiveRule
    start: int
    end: int
    decided: int
    at_end: bool = False


@dataclass(slots=True)
class _Search:
    """How far one pattern has come.

    No match can begin before `floor`; `marked` is the floor before the newest piece. Nothing is
    certain on the first `known` characters. `pending`: a match may have begun already, so the
    next piece is searched whether or not a literal of the pattern stands in it.
    """

    trigger: PatternTrigger
    floor: int = 0
    marked: int = 0
    known: int = 0
    scanned: int = 0
    due: int = 0
    pending: bool = False


@dataclass(slots=True)
class _Progress:
    watch: Watch
    searches: list[_Search] = field(default_factory=list)


class Window:
    """One growing text under a fixed set of rules; each rule hits at most once.

    `prefix`: text of earlier attempts in front of this one's. Matches wholly inside it do not
    count; `release` says which undecided text `hold` keeps back.
    """

    def __init__(
        self, watches: Iterable[Watch], release: ReleaseMode = ReleaseMode.SAFE, prefix: str = ""
    ) -> None:
        self.text = prefix
        self.quarantined: list[LiveRule] = []
        self._beyond = len(prefix)
        self._release = release
        self._active = [
            _Progress(watch, [_Search(trigger) for trigger in watch.live.patterns])
            for watch in watches
        ]
        self._hit_now: list[_Progress] = []
        if prefix:
            self._settle_prefix()

    def feed(self, piece: str) -> tuple[Found, ...]:
        """Append `piece`; returns what became certain, in the order of the rules."""
        text = self.text
        self.text = ""  # the only reference, so that appending does not copy the text
        text += piece
        self.text = text
        return self._sweep(closing=False)

    def close(self) -> tuple[Found, ...]:
        """The text is finished: every pattern's final form decides what is still open."""
        return self._sweep(closing=True)

    def hold(self) -> int:
        """Length of the prefix that no holding rule can still match on."""
        length = len(self.text)
        return min((self._held_from(p, length) for p in self._holding()), default=length)

    def hold_at(self, cut: int) -> int:
        """The hold position when the text was `cut` long; `cut` lies in the newest piece."""
        return min(
            (
                self._position(search.trigger, self.text[:cut], search.marked)
                for progress in (*self._holding(), *(p for p in self._hit_now if p.watch.holds))
                for search in progress.searches
            ),
            default=cut,
        )

    def drop_holds(self) -> None:
        """No rule interrupts here any more: they go on as rules that only remind."""
        for progress in self._active:
            progress.watch = Watch(progress.watch.live, holds=False)

    def _holding(self) -> Iterable[_Progress]:
        return (progress for progress in self._active if progress.watch.holds)

    def _held_from(self, progress: _Progress, length: int) -> int:
        if self._release is ReleaseMode.SAFE:
            return min((search.floor for search in progress.searches), default=length)
        return min(
            (self._position(s.trigger, self.text, s.floor) for s in progress.searches),
            default=length,
        )

    def _position(self, trigger: PatternTrigger, text: str, floor: int) -> int:
        try:
            if self._release is ReleaseMode.SAFE:
                return trigger.hold(text, floor, beyond=self._beyond)
            complete = trigger.final(text, floor, beyond=self._beyond)
        except OverBudget:
            return len(text)
        return complete.start if complete else len(text)

    def _sweep(self, *, closing: bool) -> tuple[Found, ...]:
        self._hit_now = []
        found: list[Found] = []
        still: list[_Progress] = []
        for progress in self._active:
            try:
                hit = self._final(progress) if closing else self._certain(progress)
            except OverBudget:
                self.quarantined.append(progress.watch.live)
                continue
            if hit is None:
                still.append(progress)
            else:
                found.append(hit)
                self._hit_now.append(progress)
        self._active = still
        return tuple(found)

    def _certain(self, progress: _Progress) -> Found | None:
        first: Found | None = None
        for search in progress.searches:
            search.marked = search.floor
            hit = self._certain_one(progress.watch, search)
            if hit is not None and (first is None or hit.decided < first.decided):
                first = hit
        return first

    def _certain_one(self, watch: Watch, search: _Search) -> Found | None:
        length = len(self.text)
        if length < search.due or not (watch.holds or self._awake(search)):
            return None
        known, search.known = search.known, length
        match = search.trigger.certain(self.text, search.floor, known, beyond=self._beyond)
        if match is not None:
            return Found(watch.live, match.start, match.end, match.decided)
        search.floor = search.trigger.hold(self.text, search.floor, beyond=self._beyond)
        waiting = length - search.floor
        search.pending = waiting > 0
        search.due = 0 if waiting <= _PATIENCE else length + waiting // 4
        return None

    def _awake(self, search: _Search) -> bool:
        """Whether a literal that every match contains has come in (or there is none to ask)."""
        pattern = search.trigger.pattern
        literals = pattern.literals
        if not literals or search.pending:
            return True
        if pattern.folded and not all(literal.isascii() for literal in literals):
            return True
        start = max(0, search.scanned - max(map(len, literals)) + 1)
        tail = self.text[start:]
        search.scanned = len(self.text)
        if pattern.folded:
            tail = tail.lower()
            return any(literal.lower() in tail for literal in literals)
        return any(literal in tail for literal in literals)

    def _final(self, progress: _Progress) -> Found | None:
        for search in progress.searches:
            span = search.trigger.final(self.text, search.floor, beyond=self._beyond)
            if span is not None:
                length = len(self.text)
                return Found(progress.watch.live, span.start, span.end, length, at_end=True)
        return None

    def _settle_prefix(self) -> None:
        for progress in self._active:
            for search in progress.searches:
                try:
                    search.floor = search.trigger.hold(self.text, 0, beyond=self._beyond)
                except OverBudget:
                    search.floor = 0
                search.pending = search.floor < len(self.text)
