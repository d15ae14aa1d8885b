"""The tool calls of one choice: which piece belongs to which call; pure.

Upstreams label pieces by index, by id, by both, or not at all. An index or an id is a label,
never a position: calls are numbered in order of first appearance.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from proxy.conversation import Call
from proxy.wire.openai.channel import Joiner, whole
from proxy.wire.openai.tolerant import read_json, write_json
from rules_engine.events import ToolArguments, ToolClosed, ToolNamed, ToolOpened

ToolEvent = ToolOpened | ToolNamed | ToolArguments | ToolClosed

LEGACY = "function_call"
_LEGACY_INDEX = -1
_OWN_KEYS = frozenset({"index", "id", "type", "function", "custom"})
_OWN_BODY_KEYS = frozenset({"name", "arguments", "input"})
_STRUCTURE = re.compile(r'["\\{}\[\]]')


class DocumentEnd:
    """Follows a JSON object that arrives in pieces until it is closed, with nothing behind it.

    Reads each character once, so that asking after every piece stays linear.
    """

    __slots__ = ("_closed", "_depth", "_escaped", "_in_string", "_overrun")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = -1  # offset in the piece of the character that a backslash escapes
        self._closed = False
        self._overrun = False

    @property
    def reached(self) -> bool:
        """All brackets are closed and nothing but white space came since."""
        return self._closed and not self._overrun

    def feed(self, piece: str) -> None:
        """Read on."""
        if not piece:
            return
        end = 0
        for mark in _STRUCTURE.finditer(piece):
            if self._closed:
                break
            if mark.start() != self._escaped:
                self._step(mark[0], mark.start())
                end = mark.end()
        self._overrun |= self._closed and bool(piece[end:].strip())
        self._escaped = 0 if self._escaped == len(piece) else -1

    def _step(self, mark: str, at: int) -> None:
        if mark == "\\":
            self._escaped = at + 1
        elif mark == '"':
            self._in_string = not self._in_string
        elif not self._in_string:
            self._depth += 1 if mark in "{[" else -1
            self._closed = self._depth <= 0


@dataclass(slots=True)
class Slot:
    """One call as far as it was read."""

    choice: int
    call: int
    index: int | None
    kind: str = "function"
    id: str = ""
    name: str = ""
    named: bool = False
    pieces: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    body_extra: dict[str, Any] = field(default_factory=dict)
    joiner: Joiner = field(default_factory=Joiner)
    _end: DocumentEnd = field(default_factory=DocumentEnd)
    _followed: int = 0

    @property
    def arguments(self) -> str:
        """The arguments so far, as on the wire."""
        return "".join(self.pieces)

    def value(self) -> dict[str, Any] | None:
        """Answer with the arguments' JSON object, None while it is unfinished."""
        for piece in self.pieces[self._followed :]:
            self._end.feed(piece)
        self._followed = len(self.pieces)
        if not self._end.reached:
            return None
        value = read_json(self.arguments)
        return value if isinstance(value, dict) else None

    def repeats(self, piece: str) -> bool:
        """Say whether `piece` is the complete arguments once more."""
        if not self.pieces or not piece.lstrip().startswith("{"):
            return False
        value = read_json(piece)
        return isinstance(value, dict) and value == self.value()

    def is_followed_by(self, arguments: Any) -> bool:
        """Say whether these begin another call, though its labels are this one's: it is complete.

        Some upstreams give every call of a message the same index and id.
        """
        if isinstance(arguments, dict):
            return bool(self.pieces) and self.value() not in (None, arguments)
        if not isinstance(arguments, str) or not arguments.lstrip().startswith("{"):
            return False
        return self.value() is not None and not self.repeats(arguments)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _body(raw: dict[str, Any]) -> dict[str, Any]:
    """Answer with the part that holds name and arguments, whichever kind of call it is."""
    for key in ("function", "custom"):
        if isinstance(raw.get(key), dict):
            return cast("dict[str, Any]", raw[key])
    return {}


def _written_arguments(body: dict[str, Any]) -> Any:
    return body.get("arguments", body.get("input"))


def _take(into: dict[str, Any], keys: dict[str, Any], known: frozenset[str]) -> None:
    for key, value in keys.items():
        if key in known or value is None:
            continue
        old = into.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            into[key] = {**old, **value}
        else:
            into[key] = value


class Calls:
    """The calls of one choice."""

    __slots__ = ("_choice", "slots")

    def __init__(self, choice: int) -> None:
        self._choice = choice
        self.slots: list[Slot] = []

    def read(self, raw: dict[str, Any], *, complete: bool = False) -> list[ToolEvent]:
        """Read one entry of `tool_calls`.

        `complete`: it stands in a whole message, and is a call of its own whatever its labels.
        """
        body = _body(raw)
        index = raw.get("index")
        label = index if isinstance(index, int) and not isinstance(index, bool) else None
        call_id, name = _text(raw.get("id")), _text(body.get("name"))
        slot = None if complete else self._slot(label, call_id, name)
        if slot is not None and name and slot.is_followed_by(_written_arguments(body)):
            slot = None
        fresh = slot is None
        if slot is None:
            slot = Slot(self._choice, len(self.slots), label)
            self.slots.append(slot)
        if "custom" in raw and "function" not in raw:
            slot.kind = "custom"
        slot.kind = _text(raw.get("type")) or slot.kind
        self._identify(slot, call_id, name)
        _take(slot.extra, raw, _OWN_KEYS)
        _take(slot.body_extra, body, _OWN_BODY_KEYS)
        events = self._arguments(slot, _written_arguments(body))
        return [self._opened(slot), *events] if fresh else events

    def read_legacy(self, body: dict[str, Any]) -> list[ToolEvent]:
        """Read a `function_call`, the one call of a message in the older API."""
        return self.read({"index": _LEGACY_INDEX, "function": body, "type": LEGACY})

    def close(self) -> list[ToolEvent]:
        """End the calls: held characters, names not yet settled, the closings."""
        events: list[ToolEvent] = []
        for slot in self.slots:
            if not slot.named:
                slot.named = True
                events.append(ToolNamed(slot.choice, slot.call, whole(slot.name)))
            if rest := slot.joiner.close():
                events.append(ToolArguments(slot.choice, slot.call, rest))
            events.append(ToolClosed(slot.choice, slot.call))
        return events

    def _slot(self, index: int | None, call_id: str, name: str) -> Slot | None:
        """Answer with the call that a piece continues, None for a new one."""
        labelled = [s for s in self.slots if index is None or s.index == index]
        if not labelled:
            return None
        last = labelled[-1]
        if call_id and (index is None or (last.id and last.id != call_id)):
            return next((s for s in reversed(labelled) if s.id == call_id), None)
        if call_id or not (name and last.name):
            return last
        renamed = index is None and bool(last.pieces) and name != last.name
        return None if renamed or last.value() is not None else last

    @staticmethod
    def _identify(slot: Slot, call_id: str, name: str) -> None:
        repeated = bool(call_id) and slot.id == call_id
        slot.id = slot.id or call_id
        if not slot.name:
            slot.name = name
        elif not (repeated or slot.pieces or name == slot.name):
            slot.name += name

    @staticmethod
    def _opened(slot: Slot) -> ToolOpened:
        call_id = whole(slot.id) or None
        return ToolOpened(slot.choice, slot.call, call_id, freeform=slot.kind == "custom")

    @staticmethod
    def _arguments(slot: Slot, value: Any) -> list[ToolEvent]:
        piece = ""
        if isinstance(value, str):
            piece = "" if slot.repeats(value) else value
        elif isinstance(value, dict | list) and not slot.pieces:
            piece = write_json(value)
        if piece:
            slot.pieces.append(piece)
        events: list[ToolEvent] = []
        if slot.pieces and slot.name and not slot.named:
            slot.named = True
            events.append(ToolNamed(slot.choice, slot.call, whole(slot.name)))
        if piece and (certain := slot.joiner.feed(piece)):
            events.append(ToolArguments(slot.choice, slot.call, certain))
        return events


def call_of(slot: Slot) -> Call:
    """Answer with the call in the neutral view."""
    return Call(whole(slot.id) or None, whole(slot.name), whole(slot.arguments))


def raw_of(slot: Slot) -> bytes:
    """Answer with the call as a message carries it: complete, unknown keys kept, no index."""
    body_key, text_key = ("custom", "input") if slot.kind == "custom" else ("function", "arguments")
    body = {"name": slot.name, text_key: whole(slot.arguments)}
    raw: dict[str, Any] = {"id": slot.id} if slot.id else {}
    raw |= {"type": slot.kind, body_key: body}
    complete = {**raw, body_key: {**body, **slot.body_extra}, **slot.extra}
    # Unknown keys nested too deep to be written are left out, so that the call itself is not.
    return (write_json(complete) or write_json(raw)).encode()
