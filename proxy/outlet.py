"""Where the events of one attempt go out to the client, or wait, or stay for good; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proxy.backlog import Backlog, CutRun, HeldEvent, Run
from proxy.sse import SseEvent
from proxy.wire import Continuation, Decoded
from rules_engine.decisions import Release
from rules_engine.turn import Answer


class Outlet:
    """Writes one attempt's part of the client's stream.

    `first`: it is the turn's first attempt, whose events go out as they came. `document`: it is
    one whole answer. `text`, `thinking`: characters of the first choice that the client got of it.
    """

    __slots__ = ("_continuation", "backlog", "document", "first", "text", "thinking")

    def __init__(self, continuation: Continuation, *, first: bool) -> None:
        self.first = first
        self.document = False
        self.text = self.thinking = 0
        self.backlog = Backlog()
        self._continuation = continuation

    def passes(self, run: Run | CutRun) -> bool:
        """Whether a run of text goes out as it came, as nothing waits; it counts as sent then."""
        if self.backlog.size or not self.first:
            return False
        if not self._continuation.texts_pass(run.raw, has_id=run.has_id):
            return False
        self.went(run.choice, run.pieces)
        return True

    def went(self, choice: int, pieces: Sequence[str]) -> None:
        """Count events with a piece of text each as sent; the next ones behind some that passed."""
        self.backlog.count += len(pieces)
        self.text += sum(map(len, pieces)) if choice == 0 else 0

    def release(self, release: Release) -> Iterator[bytes]:
        """Give what the client gets of the events that are released, one after the other."""
        while held := self.backlog.first(release.through):
            out = self._rendered(held, release)
            self.backlog.drop_first()
            yield out

    def drop(self, through: int | None = None) -> None:
        """Keep what waits for good; what stands behind event `through` was never received."""
        for held in self.backlog:
            if through is None or held.ordinal <= through:
                self._continuation.unreleased(held.event)
        self.backlog.clear()

    def emptied(self) -> bytes:
        """Give all that waits, as no rule looks at it any more."""
        out = b"".join(self.passed(each.event, each.decoded) for each in self.backlog)
        self.backlog.clear()
        return out

    def passed(self, event: SseEvent, decoded: Decoded) -> bytes:
        """Give what the client gets of an event that no rule looks at."""
        if self.first:
            return event.raw
        try:
            return self._continuation.later(event, decoded)
        except Exception:  # noqa: BLE001 - what cannot be written anew still says something
            return event.raw

    def _rendered(self, held: HeldEvent, release: Release) -> bytes:
        if held.ordinal in release.dropped:
            self._continuation.unreleased(held.event)
            return b""
        self.text += held.text
        self.thinking += held.thinking
        if self.document:
            return held.event.raw
        if not self.first:
            return self._continuation.later(held.event, held.decoded)
        calls = release.without_calls
        if calls and held.decoded.events:
            return self._continuation.first_without(held.event, held.decoded, calls)
        return self._continuation.first(held.event, held.decoded)


def lets_by(answers: Sequence[Answer], last: int) -> bool:
    """Whether all that is decided is that events go out, up to the `last` of them."""
    newest = answers[-1] if answers else None
    if not isinstance(newest, Release) or newest.through != last:
        return False
    return len(answers) == 1 or all(isinstance(answer, Release) for answer in answers)
