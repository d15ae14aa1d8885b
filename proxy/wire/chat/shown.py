"""What the client has got so far of the one chat answer."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.wire import Decoded
from proxy.wire.chat.calls import delta_of, entries_of
from proxy.wire.openai.chunk import JsonObject, choices
from proxy.wire.openai.shown import Shown
from rules_engine.events import ToolOpened


@dataclass(slots=True)
class ChatShown(Shown):
    """Notes on the client's chat stream.

    indices: the least tool index that is still free. curious: also whose role it is.
    """

    role: bool = False
    calls: bool = False
    indices: int = 0

    def look(self, chunk: JsonObject) -> None:
        """Note of a raw chunk who answers, its role, the tool indices that it used."""
        self.who.look(chunk)
        for choice in choices(chunk):
            delta = delta_of(choice)
            self.role = self.role or bool(delta.get("role"))
            for entry in entries_of(delta):
                index = entry.get("index")
                self.indices = max(self.indices, index + 1 if isinstance(index, int) else 0)
        self.curious = not (self.role and self.who.named) and not self.who.weary

    def hear_calls(self, decoded: Decoded, without: frozenset[tuple[int, int]]) -> bool:
        """Note that an event of the first attempt went out, but for the calls `without`.

        Answers whether a call opened in it.
        """
        self.hear(decoded)
        opened = [event for event in decoded.events if isinstance(event, ToolOpened)]
        for event in opened:
            if (event.choice, event.call) not in without:
                self.calls = True
                self.indices = max(self.indices, event.call + 1)
        return bool(opened)

    def stamp(self, chunk: JsonObject) -> JsonObject:
        """Give the next chunk the identity of this answer, and the role if it is due."""
        stamped = self.who.stamp(chunk)
        if not self.role and chunk["choices"]:
            self.role = True
            first, *others = chunk["choices"]
            delta = {"role": "assistant", **first["delta"]}
            stamped["choices"] = [{**first, "delta": delta}, *others]
        return stamped
