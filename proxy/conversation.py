"""Neutral view of a request's conversation; fingerprints of its messages; pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of an assistant message; `arguments` as received."""

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the client view, whatever the wire API.

    `text`: text parts joined; `reasoning`: plain reasoning where the client returned it;
    `call_id`: on a tool message, the call that it answers.
    """

    role: str
    text: str
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
