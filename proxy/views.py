"""Splices and anchors: client view to model view; pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Placement(StrEnum):
    """Where a note stands: a user message of its own, or merged into a neighbour."""

    OWN = "own"
    INTO_USER = "into_user"
    INTO_TOOL = "into_tool"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a note tells: a rule's name and the hash of the text that was delivered."""

    rule: str
    body_hash: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A message of ours or of an abandoned attempt, as rendered for the wire API."""

    rendered: bytes
    delivers: tuple[Delivery, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """Text for the model: `text` where it is merged, `rendered` where it is its own message."""

    text: str
    rendered: bytes
    placement: Placement
    delivers: tuple[Delivery, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolNote:
    """A note in front of the result of one call of the anchor message, by position and name."""

    position: int
    name: str
    note: Note


@dataclass(frozen=True, slots=True)
class Splice:
    """One edit that turns client view into model view, at one assistant message.

    before: what stands in front of the message, attempt by attempt.
    strip, strip_reasoning: what the client saw of abandoned attempts, at the message's front.
    tool_notes: in front of its tool results. after: behind it and its results.
    restore: JSON object of fields to put back into the message (reasoning not shown), or empty.
    head: the message reached the client only in part (it left); matched by prefix.
    dropped: an upstream refused every placement.
    """

    before: tuple[Kept | Note, ...] = ()
    strip: str = ""
    strip_reasoning: str = ""
    tool_notes: tuple[ToolNote, ...] = ()
    after: tuple[Note, ...] = ()
    restore: bytes = b""
    released: str = ""
    head: bool = False
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Insert:
    """Rendered messages in front of client message `at` (`at` == number of messages: at the end)."""

    at: int
    messages: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """Text into message `at`: in front of its content or behind it.

    String content stays a string (text, blank line, content); a list gets one more text part.
    """

    at: int
    text: str
    front: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """Cut the first `text` characters of message `at`'s text (and `reasoning` of its reasoning)."""

    at: int
    text: int
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Restore:
    """Add the fields of the JSON object `fields` to message `at`."""

    at: int
    fields: bytes


Edit = Insert | Merge | Strip | Restore
