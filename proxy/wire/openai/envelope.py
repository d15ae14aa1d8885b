"""Who answers: what every chunk of one answer must agree with, whichever attempt it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field

from proxy.wire.openai.chunk import JsonObject

_IDENTITY = ("id", "created", "model")
_KEPT = (*_IDENTITY, "system_fingerprint")
_LOOKS = 8  # upstreams that have not named themselves by then never will


@dataclass(slots=True)
class Envelope:
    """The keys around what the chunks of one answer say.

    kind: the chunks' `object`. made: the id of an answer of which nothing came from upstream.
    model: the request's, for the same.
    """

    kind: str
    made: str
    model: str
    _values: JsonObject = field(default_factory=dict)
    _unseen: JsonObject = field(default_factory=dict)
    _looks: int = 0

    @property
    def named(self) -> bool:
        """All that names an answer is known."""
        return all(key in self._values for key in _IDENTITY)

    @property
    def weary(self) -> bool:
        """So many chunks were looked at that no other will say more."""
        return self._looks >= _LOOKS

    def look(self, chunk: JsonObject) -> None:
        """Note of a chunk that goes out who answers."""
        self._looks += 1
        _learn(self._values, chunk)

    def miss(self, chunk: JsonObject) -> None:
        """Note of a chunk that stays here who would have answered."""
        _learn(self._unseen, chunk)

    def stamp(self, chunk: JsonObject) -> JsonObject:
        """Give the next chunk the identity of this answer."""
        _learn(self._values, chunk)
        same = {key: self._values[key] for key in _IDENTITY if key in self._values}
        return {**chunk, **same, "object": self.kind}

    def begin(self) -> JsonObject:
        """Begin a chunk of ours, still without choices."""
        made = {"id": self.made, "created": 0, "model": self.model}
        known: JsonObject = {**made, **self._unseen, **self._values}
        named = {key: known[key] for key in _KEPT if key in known}
        return {"id": named["id"], "object": self.kind, **named}


def _learn(values: JsonObject, chunk: JsonObject) -> None:
    """Note what names the answer. Some upstreams open with a chunk whose id is empty."""
    for key in _KEPT:
        if chunk.get(key) and key not in values:
            values[key] = chunk[key]
