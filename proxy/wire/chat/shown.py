"""What the client has got so far of the one answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from proxy.wire import Decoded
from proxy.wire.chat.calls import entries_of
from proxy.wire.chat.chunk import JsonObject, choices, delta_of
from rules_engine.events import FinishReason, TextDelta, ToolOpened

CHUNK = "chat.completion.chunk"
_IDENTITY = ("id", "created", "model")
_KEPT = (*_IDENTITY, "system_fingerprint")
_LOOKS = 8  # upstreams that have not named themselves by then never will


@dataclass(slots=True)
class Shown:
    """Notes on the client's stream, and what every chunk behind the first attempt must agree with.

    model: the request's, for an answer of which nothing came from upstream.
    ids: an `id` field of SSE went out. indices: the least tool index that is still free.
    """

    model: str
    values: JsonObject = field(default_factory=dict)
    unseen: JsonObject = field(default_factory=dict)
    role: bool = False
    text: bool = False
    calls: bool = False
    indices: int = 0
    finish: bool = False
    ids: bool = False
    done: bool = False
    looks: int = 0

    @property
    def curious(self) -> bool:
        """The next raw chunk may still say who answers."""
        named = self.role and all(key in self.values for key in _IDENTITY)
        return not named and self.looks < _LOOKS

    def look(self, chunk: JsonObject) -> None:
        """Note of a raw chunk who answers, its role, the tool indices that it used."""
        self.looks += 1
        _learn(self.values, chunk)
        for choice in choices(chunk):
            delta = delta_of(choice)
            self.role = self.role or bool(delta.get("role"))
            for entry in entries_of(delta):
                index = entry.get("index")
                self.indices = max(self.indices, index + 1 if isinstance(index, int) else 0)

    def hear(self, decoded: Decoded, without: frozenset[tuple[int, int]]) -> bool:
        """Note that an event of the first attempt went out, but for the calls `without`.

        Answers whether a call opened in it.
        """
        self.done = self.done or decoded.done
        opened = False
        for event in decoded.events:
            if isinstance(event, TextDelta):
                self.text = self.text or bool(event.text)
            elif isinstance(event, FinishReason):
                self.finish = True
            elif isinstance(event, ToolOpened):
                opened = True
                if (event.choice, event.call) not in without:
                    self.calls = True
                    self.indices = max(self.indices, event.call + 1)
        return opened

    def miss(self, chunk: JsonObject) -> None:
        """Note of a chunk that stays here who would have answered."""
        _learn(self.unseen, chunk)

    def stamp(self, chunk: JsonObject) -> JsonObject:
        """Give the next chunk the identity of this answer, and the role if it is due."""
        _learn(self.values, chunk)
        same = {key: self.values[key] for key in _IDENTITY if key in self.values}
        stamped = {**chunk, **same, "object": CHUNK}
        if not self.role and chunk["choices"]:
            self.role = True
            first, *others = chunk["choices"]
            delta = {"role": "assistant", **first["delta"]}
            stamped["choices"] = [{**first, "delta": delta}, *others]
        return stamped

    def envelope(self) -> JsonObject:
        """Begin a chunk of ours, still without choices."""
        made = {"id": "chatcmpl-ttsr", "created": 0, "model": self.model}
        known: JsonObject = {**made, **self.unseen, **self.values}
        named = {key: known[key] for key in _KEPT if key in known}
        return {"id": named["id"], "object": CHUNK, **named}


def _learn(values: JsonObject, chunk: JsonObject) -> None:
    """Note what names the answer. Some upstreams open with a chunk whose id is empty."""
    for key in _KEPT:
        if chunk.get(key) and key not in values:
            values[key] = chunk[key]
