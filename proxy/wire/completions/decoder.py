"""Tolerant reader of completions: all that a choice says is its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.quirks import Profile
from proxy.wire import AttemptMessage
from proxy.wire.openai.channel import Growth, Joiner, whole
from proxy.wire.openai.decoder import AnswerDecoder
from rules_engine.events import FinishReason, OpenCharacter, TextDelta, TurnEvent


class _Choice:
    """What one choice has said so far."""

    def __init__(self, index: int, profile: Profile) -> None:
        self._index = index
        self._joiner = Joiner()
        self._growth = Growth() if profile.cumulative else None
        self._said: list[str] = []

    def read(self, raw: Mapping[str, Any]) -> list[TurnEvent]:
        """Read one entry of `choices`: its text and its finish reason."""
        text, reason = raw.get("text"), raw.get("finish_reason")
        events = self._text(text) if isinstance(text, str) and text else []
        if isinstance(reason, str) and reason:
            events.append(FinishReason(self._index, whole(reason)))
        return events

    def close(self) -> list[TurnEvent]:
        """Let out a half of a character that waited for its other one."""
        return self._saying(self._joiner.close())

    def message(self) -> AttemptMessage:
        """Answer with the text that was let out so far."""
        return AttemptMessage("".join(self._said), "", (), (), b"{}")

    def _text(self, text: str) -> list[TurnEvent]:
        new = self._growth.feed(text) if self._growth else text
        said = self._saying(self._joiner.feed(new))
        return [*said, OpenCharacter(self._index)] if self._joiner.half else said

    def _saying(self, text: str) -> list[TurnEvent]:
        if not text:
            return []
        self._said.append(text)
        return [TextDelta(self._index, text)]


class CompletionsDecoder(AnswerDecoder[_Choice]):
    """Reads one attempt on the completions API; implements `proxy.wire.Decoder`."""

    def __init__(self, profile: Profile) -> None:
        super().__init__(lambda index: _Choice(index, profile))
