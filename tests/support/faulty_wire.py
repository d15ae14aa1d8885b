"""A wire API with a fault in its decoder, for what the proxy does about its own faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from proxy.quirks import Profile
from proxy.sse import SseEvent
from proxy.wire import AttemptMessage, Decoded, Decoder, Texts
from proxy.wire.chat import ChatApi
from rules_engine.events import TurnEvent

Where = Literal["decode", "close", "document", "message", "finish"]


class Fault(Exception):  # noqa: N818 - named by what it is
    """The fault; its words are those of no log, as they may hold what a model wrote."""


@dataclass
class FaultyDecoder:
    """Raises in the method `where`, and from then on in every one.

    In `decode` at an event that holds `FAULT`, in `finish` at the end mark.
    """

    inner: Decoder
    where: Where
    broken: bool = field(default=False)

    def texts(self, parts: Sequence[bytes]) -> Texts | None:
        self._check("decode", at=any(b"FAULT" in part for part in parts))
        return self.inner.texts(parts)

    def decode(self, event: SseEvent) -> Decoded:
        data = event.data or ""
        self._check("decode", at="FAULT" in data)
        self._check("finish", at=data == "[DONE]")
        return self.inner.decode(event)

    def document(self, body: bytes) -> Decoded:
        self._check("document")
        return self.inner.document(body)

    def close(self, *, broken: bool) -> tuple[TurnEvent, ...]:
        self._check("close")
        return self.inner.close(broken=broken)

    def message(self, choice: int) -> AttemptMessage:
        self._check("message")
        return self.inner.message(choice)

    def _check(self, where: Where, *, at: bool = True) -> None:
        self.broken = self.broken or (where == self.where and at)
        if self.broken:
            raise Fault("secret words")


class FaultyApi(ChatApi):
    """Chat, with that decoder for the attempts from `attempt` (1 for the first) on."""

    def __init__(self, where: Where, attempt: int = 1) -> None:
        self._where = where
        self._attempt = attempt
        self._made = 0

    def decoder(self, profile: Profile) -> Decoder:
        self._made += 1
        inner = super().decoder(profile)
        return FaultyDecoder(inner, self._where) if self._made >= self._attempt else inner


class SpeechlessApi(ChatApi):
    """Chat, where the half that an interrupt keeps cannot be written."""

    def partial(self, _text: str) -> bytes:
        raise Fault("secret words")
