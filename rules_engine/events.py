"""What a turn is told: the values that a wire decoder makes out of upstream events.

Calls are known by `(choice, call)`: `call` counts a choice's calls from 0 in order of first
appearance, whatever ids and indices the upstream used.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a choice's visible text. May hold lone surrogate halves that the next joins."""

    choice: int
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of a choice's reasoning.

    `sealed`: signed or encrypted, so valid only whole and unchanged; `text` may then be empty.
    """

    choice: int
    text: str
    sealed: bool = False


@dataclass(frozen=True, slots=True)
class OpenCharacter:
    """The event ends within a character of prose: a surrogate half, whose other one is to come."""

    choice: int


@dataclass(frozen=True, slots=True)
class ToolOpened:
    """A call appeared. `id` is the upstream's own, None where it sent none.

    `freeform`: its input is raw text, not JSON (custom tools).
    """

    choice: int
    call: int
    id: str | None = None
    freeform: bool = False


@dataclass(frozen=True, slots=True)
class ToolNamed:
    """The call's name is settled: arguments began, the call ended, or it came late but whole."""

    choice: int
    call: int
    name: str


@dataclass(frozen=True, slots=True)
class ToolArguments:
    """A piece of a call's arguments as on the wire (JSON text, or raw input of a freeform call)."""

    choice: int
    call: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolClosed:
    """Nothing more will come for this call."""

    choice: int
    call: int


@dataclass(frozen=True, slots=True)
class FinishReason:
    """A non-empty finish reason was read. The surfaces are still open (content may follow)."""

    choice: int
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The output ended in an orderly way: end mark, or the body's end."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The upstream's connection broke, or it ended inside an event: nothing more will come."""


TurnEvent = (
    TextDelta
    | ThinkingDelta
    | OpenCharacter
    | ToolOpened
    | ToolNamed
    | ToolArguments
    | ToolClosed
    | FinishReason
    | Finished
    | Broken
)
