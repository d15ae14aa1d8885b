"""What the client has got so far of the one answer."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.wire import Decoded
from proxy.wire.openai.chunk import JsonObject
from proxy.wire.openai.envelope import Envelope
from rules_engine.events import FinishReason, TextDelta


@dataclass(slots=True)
class Shown:
    """Notes on the client's stream, and what every chunk behind the first attempt must agree with.

    text, finish, done: some text, a finish reason, the end mark went out. curious: the next raw
    chunk may still say who answers.
    """

    who: Envelope
    text: bool = False
    finish: bool = False
    done: bool = False
    curious: bool = True

    def look(self, chunk: JsonObject) -> None:
        """Note of a raw chunk who answers."""
        self.who.look(chunk)
        self.curious = not (self.who.named or self.who.weary)

    def hear(self, decoded: Decoded) -> None:
        """Note that an event of the first attempt went out."""
        self.done = self.done or decoded.done
        for event in decoded.events:
            if isinstance(event, TextDelta):
                self.text = self.text or bool(event.text)
            elif isinstance(event, FinishReason):
                self.finish = True

    def stamp(self, chunk: JsonObject) -> JsonObject:
        """Give the next chunk the identity of this answer."""
        return self.who.stamp(chunk)
