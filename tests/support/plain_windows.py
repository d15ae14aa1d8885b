"""A window without any short cut: every pattern is asked everything with every piece."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rules_engine.policy import ReleaseMode
from rules_engine.triggers.pattern import Certain, PatternTrigger
from rules_engine.windows import Found, Watch


@dataclass(slots=True)
class _Search:
    trigger: PatternTrigger
    floor: int = 0
    marked: int = 0


@dataclass(slots=True)
class _Progress:
    watch: Watch
    searches: list[_Search] = field(default_factory=list)


class PlainWindow:
    """What `Window` must answer, for texts that are short enough for no limit to matter."""

    def __init__(
        self, watches: Iterable[Watch], release: ReleaseMode = ReleaseMode.SAFE, prefix: str = ""
    ) -> None:
        self.text = prefix
        self._beyond = len(prefix)
        self._release = release
        self._active = [
            _Progress(watch, [_Search(trigger) for trigger in watch.live.patterns])
            for watch in watches
        ]
        self._hit_now: list[_Progress] = []
        for search in self._searches(self._active):
            search.floor = search.trigger.hold(prefix, 0, beyond=self._beyond) if prefix else 0

    def feed(self, piece: str) -> tuple[Found, ...]:
        known = len(self.text)
        self.text += piece
        return self._sweep([(p, self._certain(p, known)) for p in self._active], at_end=False)

    def close(self) -> tuple[Found, ...]:
        return self._sweep([(p, self._final(p)) for p in self._active], at_end=True)

    def hold(self) -> int:
        holding = [p for p in self._active if p.watch.holds]
        if self._release is ReleaseMode.SAFE:
            floors = (search.floor for search in self._searches(holding))
        else:
            floors = (self._position(s, self.text, s.floor) for s in self._searches(holding))
        return min(floors, default=len(self.text))

    def holds_back(self) -> bool:
        return self.hold() < len(self.text)

    def hold_at(self, cut: int) -> int:
        holding = [p for p in (*self._active, *self._hit_now) if p.watch.holds]
        text = self.text[:cut]
        floors = (self._position(s, text, s.marked) for s in self._searches(holding))
        return min(floors, default=cut)

    def drop_holds(self) -> None:
        for progress in self._active:
            progress.watch = Watch(progress.watch.live, holds=False)

    @staticmethod
    def _searches(among: Iterable[_Progress]) -> list[_Search]:
        return [search for progress in among for search in progress.searches]

    def _position(self, search: _Search, text: str, floor: int) -> int:
        if self._release is ReleaseMode.SAFE:
            return search.trigger.hold(text, floor, beyond=self._beyond)
        complete = search.trigger.final(text, floor, beyond=self._beyond)
        return complete.start if complete else len(text)

    def _certain(self, progress: _Progress, known: int) -> Certain | None:
        hits: list[Certain] = []
        for search in progress.searches:
            search.marked = search.floor
            hit = search.trigger.certain(self.text, search.floor, known, beyond=self._beyond)
            if hit is not None:
                hits.append(hit)
            search.floor = search.trigger.hold(self.text, search.floor, beyond=self._beyond)
        return min(hits, key=lambda hit: hit.decided, default=None)

    def _final(self, progress: _Progress) -> Certain | None:
        for search in progress.searches:
            span = search.trigger.final(self.text, search.floor, beyond=self._beyond)
            if span is not None:
                return Certain(span.start, span.end, len(self.text))
        return None

    def _sweep(
        self, hits: list[tuple[_Progress, Certain | None]], *, at_end: bool
    ) -> tuple[Found, ...]:
        self._hit_now = [progress for progress, hit in hits if hit is not None]
        self._active = [progress for progress, hit in hits if hit is None]
        return tuple(
            Found(progress.watch.live, hit.start, hit.end, hit.decided, at_end)
            for progress, hit in hits
            if hit is not None
        )
