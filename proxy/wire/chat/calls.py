"""Tool calls in the client's stream: pieces found by call, and calls held to be sent in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proxy.wire.chat.slots import LEGACY, Calls, Slot
from proxy.wire.openai.channel import Joiner, whole
from proxy.wire.openai.chunk import JsonObject


def delta_of(choice: JsonObject) -> JsonObject:
    """Return what a choice says: its delta, or else the whole message that some send."""
    delta, message = choice.get("delta"), choice.get("message")
    if isinstance(delta, dict):
        return delta
    return message if isinstance(message, dict) else {}


def entries_of(delta: JsonObject) -> list[JsonObject]:
    """Return the pieces of tool calls in a delta, an old `function_call` as one of its type."""
    found, old = delta.get("tool_calls"), delta.get("function_call")
    pieces = found if isinstance(found, list) else [found]
    entries = [piece for piece in pieces if isinstance(piece, dict)]
    return (
        [*entries, {"type": LEGACY, "function": old}] if old and isinstance(old, dict) else entries
    )


def place(calls: Calls, entry: JsonObject, *, complete: bool = False) -> int:
    """Read a piece into `calls`, as the decoder does, and return the number of its call.

    `complete`: it stands in a whole message.
    """
    legacy = entry.get("type") == LEGACY
    if legacy:
        events = calls.read_legacy(entry["function"])
    else:
        events = calls.read(entry, complete=complete)
    return events[0].call if events else _continued(calls.slots, entry).call


def _continued(slots: Sequence[Slot], entry: JsonObject) -> Slot:
    """Return the call of a piece that opens none and brings nothing that is read."""
    own, index = entry.get("id"), entry.get("index")
    named = [slot for slot in slots if own and slot.id == own]
    labelled = [slot for slot in slots if slot.index == index]
    return (named or labelled or slots)[-1]


class HeldCalls:
    """The calls of an attempt, kept until they can be sent one after the other."""

    def __init__(self) -> None:
        self._calls = Calls(0)
        self._shells: dict[int, JsonObject] = {}

    @property
    def legacy(self) -> bool:
        """All calls came as the old `function_call`."""
        slots = self._calls.slots
        return bool(slots) and all(slot.kind == LEGACY for slot in slots)

    def take(
        self, entries: Sequence[JsonObject], shell: JsonObject, *, complete: bool = False
    ) -> None:
        """Keep pieces; `shell` is the chunk around them, without what it says.

        `complete`: they stand in a whole message.
        """
        for entry in entries:
            self._shells.setdefault(place(self._calls, entry, complete=complete), shell)

    def drop(self, calls: frozenset[int]) -> None:
        """Forget calls that must not be sent."""
        for call in calls:
            self._shells.pop(call, None)

    def sent(self, index: int) -> Iterator[list[tuple[JsonObject, JsonObject]]]:
        """Yield each call as shells and deltas, the first of them numbered `index`."""
        kept = [slot for slot in self._calls.slots if slot.call in self._shells]
        for position, slot in enumerate(kept, start=index):
            shell = self._shells[slot.call]
            yield [(shell, delta) for delta in _deltas(slot, position)]


def _deltas(slot: Slot, index: int) -> Iterator[JsonObject]:
    """Say who the call is in the first delta; its arguments stay in the pieces that came."""
    joiner = Joiner()
    pieces = [*(joiner.feed(piece) for piece in slot.pieces), joiner.close()]
    first, *others = [piece for piece in pieces if piece] or [""]
    body_key, text_key = ("custom", "input") if slot.kind == "custom" else ("function", "arguments")
    body = {"name": whole(slot.name), text_key: first, **slot.body_extra}
    if slot.kind == LEGACY:
        yield {LEGACY: body}
        yield from ({LEGACY: {text_key: piece}} for piece in others)
        return
    named = {"id": slot.id} if slot.id else {}
    head = {"index": index, **named, "type": slot.kind, body_key: body, **slot.extra}
    yield {"tool_calls": [head]}
    for piece in others:
        yield {"tool_calls": [{"index": index, body_key: {text_key: piece}}]}
