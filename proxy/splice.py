"""The splice: what one turn leaves in the conversation, and its encoding for a store; pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, assert_never

VERSION = 1


class Placement(StrEnum):
    """Where a note stands: a user message of its own, or merged into a neighbour.

    `INTO_TOOL` asks for the neighbouring tool result. Whatever is asked for, a note beside a
    user message is merged into it, so that no two user messages ever follow each other.
    """

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
    """A message of ours or of an abandoned attempt, as rendered for the wire API.

    `partial`: the kept part of a cut attempt, always followed by a note.
    """

    rendered: bytes
    delivers: tuple[Delivery, ...] = ()
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """Text for the model: `text` where it is merged, `rendered` where it is its own message."""

    text: str
    rendered: bytes
    placement: Placement
    delivers: tuple[Delivery, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolNote:
    """A note in front of the result of one call of the anchor message, by position and name.

    `position` counts the calls that the client got, from 0.
    """

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
    released: with `head`, all text that went to the client.
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

    @property
    def injects(self) -> bool:
        """Whether it brings the model anything that the client does not send itself."""
        return bool(self.before or self.tool_notes or self.after)


@dataclass(frozen=True, slots=True)
class SplicePlace:
    """One key under which a splice can be found, with the run of fingerprints before it.

    `key`: `<kind>:<digest>` of the anchor message (kinds in `proxy.conversation`).
    `run`: fingerprints of up to eight spine messages before the anchor, nearest first.
    """

    key: str
    run: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredSplice:
    """A splice as the store keeps it: opaque payload plus what it takes to find it.

    `id` rises with time inside one store. `payload` is what `encode` made.
    """

    id: int
    places: tuple[SplicePlace, ...]
    payload: bytes


def flipped(splice: Splice) -> Splice:
    """Choose the other placement: all merged if anything stands apart, else all apart."""
    return merged(splice) if stands_apart(splice) else apart(splice)


def stands_apart(splice: Splice) -> bool:
    """Tell whether a note asks for a message of its own, or a partial is kept."""
    return any(
        piece.placement is Placement.OWN if isinstance(piece, Note) else piece.partial
        for piece in (*splice.before, *splice.after, *(tool.note for tool in splice.tool_notes))
    )


def merged(splice: Splice) -> Splice:
    """Merge every note into the message beside it; kept partials go, their notes stay."""
    return replace(
        splice,
        before=tuple(
            _placed(piece, Placement.INTO_TOOL) if isinstance(piece, Note) else piece
            for piece in splice.before
            if isinstance(piece, Note) or not piece.partial
        ),
        tool_notes=tuple(_placed_tool(tool, Placement.INTO_TOOL) for tool in splice.tool_notes),
        after=tuple(_placed(note, Placement.INTO_TOOL) for note in splice.after),
    )


def apart(splice: Splice) -> Splice:
    """Give the notes messages of their own; beside a user message a note stays merged."""
    return replace(
        splice,
        before=tuple(
            _placed(piece, Placement.OWN) if isinstance(piece, Note) else piece
            for piece in splice.before
        ),
        tool_notes=tuple(_placed_tool(tool, Placement.OWN) for tool in splice.tool_notes),
        after=tuple(_placed(note, Placement.OWN) for note in splice.after),
    )


def _placed(note: Note, placement: Placement) -> Note:
    """Place a note, unless it is part of a user message: it could not stand beside it."""
    return note if note.placement is Placement.INTO_USER else replace(note, placement=placement)


def _placed_tool(tool: ToolNote, placement: Placement) -> ToolNote:
    return replace(tool, note=_placed(tool.note, placement))


def encode(splice: Splice) -> bytes:
    """Make a splice's payload: versioned ASCII JSON; lone surrogates and any bytes survive."""
    fields = {
        "before": [_piece_out(piece) for piece in splice.before],
        "strip": splice.strip,
        "strip_reasoning": splice.strip_reasoning,
        "tool_notes": [
            {"position": tool.position, "name": tool.name, "note": _note_out(tool.note)}
            for tool in splice.tool_notes
        ],
        "after": [_note_out(note) for note in splice.after],
        "restore": _bytes_out(splice.restore),
        "released": splice.released,
        "head": splice.head,
        "dropped": splice.dropped,
    }
    kept = {name: value for name, value in fields.items() if value}
    return json.dumps({"v": VERSION, **kept}, separators=(",", ":")).encode()


def decode(payload: bytes) -> Splice | None:
    """Read the splice of a payload; None where it is damaged or of a version not known here."""
    try:
        fields = json.loads(payload)
        if fields["v"] != VERSION:
            return None
        return _splice_in(fields)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _splice_in(fields: dict[str, Any]) -> Splice:
    return Splice(
        before=tuple(_piece_in(piece) for piece in fields.get("before", ())),
        strip=_text_in(fields.get("strip", "")),
        strip_reasoning=_text_in(fields.get("strip_reasoning", "")),
        tool_notes=tuple(
            ToolNote(int(tool["position"]), _text_in(tool["name"]), _note_in(tool["note"]))
            for tool in fields.get("tool_notes", ())
        ),
        after=tuple(_note_in(note) for note in fields.get("after", ())),
        restore=_bytes_in(fields.get("restore", "")),
        released=_text_in(fields.get("released", "")),
        head=fields.get("head", False) is True,
        dropped=fields.get("dropped", False) is True,
    )


def _piece_out(piece: Kept | Note) -> dict[str, Any]:
    match piece:
        case Kept():
            return {
                "kept": _bytes_out(piece.rendered),
                "delivers": _delivers_out(piece.delivers),
                "partial": piece.partial,
            }
        case Note():
            return _note_out(piece)
        case _:
            assert_never(piece)


def _piece_in(fields: dict[str, Any]) -> Kept | Note:
    if "kept" not in fields:
        return _note_in(fields)
    return Kept(
        _bytes_in(fields["kept"]),
        _delivers_in(fields["delivers"]),
        partial=fields["partial"] is True,
    )


def _note_out(note: Note) -> dict[str, Any]:
    return {
        "text": note.text,
        "rendered": _bytes_out(note.rendered),
        "placement": note.placement.value,
        "delivers": _delivers_out(note.delivers),
    }


def _note_in(fields: dict[str, Any]) -> Note:
    return Note(
        _text_in(fields["text"]),
        _bytes_in(fields["rendered"]),
        Placement(fields["placement"]),
        _delivers_in(fields["delivers"]),
    )


def _delivers_out(delivers: tuple[Delivery, ...]) -> list[list[str]]:
    return [[delivery.rule, delivery.body_hash] for delivery in delivers]


def _delivers_in(pairs: list[list[str]]) -> tuple[Delivery, ...]:
    return tuple(Delivery(_text_in(rule), _text_in(body_hash)) for rule, body_hash in pairs)


def _bytes_out(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes_in(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text_in(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, {type(value).__name__} found")
    return value
