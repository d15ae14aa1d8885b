"""What a turn answers: decisions as values, to be executed by whoever does the I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from rules_engine.rule import Rule
from rules_engine.scope import Surface


class Action(StrEnum):
    """What was done about a hit."""

    INTERRUPT = "interrupt"
    REFUSE = "refuse"
    TOOL_REMINDER = "tool_reminder"
    PROSE_REMINDER = "prose_reminder"
    WARNING = "warning"
    OBSERVED = "observed"
    EXHAUSTED = "exhausted"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class Hit:
    """A trigger held on an output.

    `start`, `end`: span of the match in its window's text; `decided`: length of the shortest
    prefix of that text on which the match is final. `path`: the file that a tool call would
    write, as the call names it. `call`: the choice's call that it was found in.
    `leaked`: part of it had been released already (the hold limit). `exhausted`: it would have
    interrupted, but its rule's caps or the turn's budget were used up.
    """

    rule: Rule
    surface: Surface
    choice: int
    start: int
    end: int
    decided: int
    excerpt: str
    call: int | None = None
    tool: str | None = None
    path: str | None = None
    leaked: bool = False
    exhausted: bool = False


class Release(NamedTuple):
    """Every wire event up to and including ordinal `through` may go to the client.

    Only a broken stream fills the rest. `without_calls`: calls (choice, call) whose pieces must
    be cut out of those events, since they were never finished. `dropped`: ordinals that stay
    here, since a violation stands in their text.
    """

    through: int
    without_calls: frozenset[tuple[int, int]] = frozenset()
    dropped: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Close the upstream now; reissue with `partial` (empty: discarded) and a note of `hits`.

    `seam`: text that must open the next attempt in the client's stream; empty if the client
    has seen no text. `withheld`: characters of prose and calls that were dropped. `at`: ordinal
    of the event that decided it; what came behind that was never received.
    """

    hits: tuple[Hit, ...]
    partial: str
    seam: str
    withheld: int
    at: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """The finished message stays here; reissue with it, each call answered by a tool message.

    `refused`: call number to the hits found on it; calls not named were merely not run.
    `others`: hits of the message on its prose or of quiet rules, delivered with the refusal.
    """

    hits: tuple[Hit, ...]
    refused: tuple[int, ...]
    seam: str
    withheld: int


@dataclass(frozen=True, slots=True)
class Withhold:
    """Exhausted: the calls stay here and the client is told so (or gets an error)."""

    hits: tuple[Hit, ...]
    error: bool
    withheld: int


@dataclass(frozen=True, slots=True)
class Observe:
    """Hits that change nothing in this attempt; delivered by `Complete` if it is accepted."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Complete:
    """The attempt is the answer. `reminders`: hits that the next request must tell about."""

    reminders: tuple[Hit, ...]
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A rule went over its time budget and is set aside for the rest of the stream."""

    rule: Rule
    surface: Surface


Decision = Release | Interrupt | Refuse | Withhold | Observe | Complete | Quarantined
