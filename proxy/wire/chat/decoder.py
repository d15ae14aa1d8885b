"""Tolerant reader of chat chunks: one event in, turn events out; never raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.quirks import Profile
from proxy.wire import AttemptMessage, Texts
from proxy.wire.chat.reasoning import (
    REASONING_FIELDS,
    ReasoningFields,
    Thought,
    is_thinking,
    part_text,
    read_thought,
)
from proxy.wire.chat.slots import Calls, ToolEvent, call_of, raw_of
from proxy.wire.chat.typed import read_piece, read_pieces
from proxy.wire.openai.channel import Growth, Joiner, ThinkSplit, is_whole, whole
from proxy.wire.openai.decoder import AnswerDecoder
from proxy.wire.openai.tolerant import write_json
from rules_engine.events import FinishReason, OpenCharacter, TextDelta, ThinkingDelta, TurnEvent

_NO_THOUGHT = Thought()


class _Choice:
    """What one choice has said so far."""

    def __init__(self, index: int, profile: Profile) -> None:
        self.index = index
        self.calls = Calls(index)
        self.fields = ReasoningFields(cumulative=profile.cumulative)
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.silent = True  # nothing was streamed: a whole message may still count
        self._text_joiner = Joiner()
        self._thinking_joiner = Joiner()
        self._text_growth = Growth() if profile.cumulative else None
        self._thinking_growth = Growth() if profile.cumulative else None
        tagged = profile.inline_think or profile.start_in_think
        self._split = (
            ThinkSplit(profile.think_tags, start_inside=profile.start_in_think) if tagged else None
        )
        self._plain = not (tagged or profile.cumulative)

    def read(self, raw: Mapping[str, Any]) -> list[TurnEvent]:
        """Read one entry of `choices`: its delta, else its message, and its finish reason."""
        events: list[TurnEvent] = []
        delta, message = raw.get("delta"), raw.get("message")
        if isinstance(delta, dict):
            events = self._read_delta(delta)
        elif isinstance(message, dict) and self.silent:
            events = self._read_delta(message, complete=True)
        reason = raw.get("finish_reason")
        if isinstance(reason, str) and reason:
            events.append(FinishReason(self.index, whole(reason)))
        return events

    def say(self, content: str) -> Sequence[TurnEvent]:
        """Read a delta that is nothing but a piece of text."""
        if self._plain and content and content.isascii() and not self._text_joiner.half:
            self.silent = False
            self.text.append(content)
            return (TextDelta(self.index, content),)
        text = self._read_text(content)
        if self._split and text:
            inline, text = self._split.feed(text)
            return [*self._prose(Thought(inline), text), *self._cut_off(text)]
        return [*self._prose(_NO_THOUGHT, text), *self._cut_off(text)]

    def said(self, pieces: Sequence[str]) -> bool:
        """Read deltas that are nothing but pieces of text; False where one must be looked into."""
        if not self._plain or self._text_joiner.half:
            return False
        text = "".join(pieces)
        if not (text.isascii() or is_whole(text)):
            return False
        self.silent = False
        self.text.append(text)
        return True

    def close(self) -> list[TurnEvent]:
        """Let out what was held back and close the calls."""
        thinking, text = self._thinking_joiner.close(), self._text_joiner.close()
        if self._split:
            inline, text = self._split.feed(text)
            held_inline, held = self._split.close()
            thinking, text = thinking + inline + held_inline, text + held
        return [*self._prose(Thought(thinking), text), *self.calls.close()]

    def message(self) -> AttemptMessage:
        """Answer with everything that was let out so far."""
        return AttemptMessage(
            text="".join(self.text),
            reasoning="".join(self.reasoning),
            calls=tuple(call_of(slot) for slot in self.calls.slots),
            raw_calls=tuple(raw_of(slot) for slot in self.calls.slots),
            extra=(write_json(self.fields.fields()) or "{}").encode(),
        )

    def _read_delta(self, delta: dict[str, Any], *, complete: bool = False) -> list[TurnEvent]:
        content = delta.get("content")
        thought = Thought()
        if isinstance(content, list) or not REASONING_FIELDS.isdisjoint(delta):
            self.fields.read(delta)
            thought = read_thought(delta)
        thinking, text = self._new_thinking(thought.text), self._read_text(content)
        if self._split and text:
            inline, text = self._split.feed(text)
            thinking += inline
        calls = self._read_calls(delta, complete=complete)
        self.silent &= not (thought.text or self.calls.slots)
        prose = self._prose(Thought(thinking, thought.sealed), text)
        return [*prose, *calls, *self._cut_off(text)]

    def _cut_off(self, text: str) -> Sequence[OpenCharacter]:
        """Tell where prose ends within a character; reasoning has ended where there is text."""
        waits = self._text_joiner.half or (self._thinking_joiner.half and not text)
        return (OpenCharacter(self.index),) if waits else ()

    def _new_thinking(self, text: str) -> str:
        if self._thinking_growth and text:
            text = self._thinking_growth.feed(text)
        return self._thinking_joiner.feed(text) if text else ""

    def _read_text(self, content: Any) -> str:
        if isinstance(content, list):
            text = "".join(part_text(part) for part in content if not is_thinking(part))
        else:
            text = content if isinstance(content, str) else ""
            if self._text_growth:
                text = self._text_growth.feed(text)
        if not text:
            return ""
        self.silent = False
        return self._text_joiner.feed(text)

    def _read_calls(self, delta: dict[str, Any], *, complete: bool) -> list[ToolEvent]:
        raw_calls, legacy = delta.get("tool_calls"), delta.get("function_call")
        events: list[ToolEvent] = []
        if isinstance(raw_calls, dict):
            raw_calls = [raw_calls]
        for raw in raw_calls if isinstance(raw_calls, list) else ():
            if isinstance(raw, dict):
                events += self.calls.read(raw, complete=complete)
        if isinstance(legacy, dict) and legacy:
            events += self.calls.read_legacy(legacy)
        return sorted(events, key=lambda event: event.call)

    def _prose(self, thought: Thought, text: str) -> list[TurnEvent]:
        events: list[TurnEvent] = []
        if thought.text or thought.sealed:
            self.reasoning.append(thought.text)
            events.append(ThinkingDelta(self.index, thought.text, thought.sealed))
        if text:
            self.text.append(text)
            events.append(TextDelta(self.index, text))
        return events


class ChatDecoder(AnswerDecoder[_Choice]):
    """Reads one attempt on the chat API; implements `proxy.wire.Decoder`.

    What cannot be decided yet is held back and comes with a later event or with `close`: a first
    surrogate half, and under a think-tag profile the begin of a possible tag.
    """

    def __init__(self, profile: Profile) -> None:
        super().__init__(lambda index: _Choice(index, profile))

    def _said(self, data: str) -> tuple[TurnEvent, ...] | None:
        piece = read_piece(data)
        return None if piece is None else tuple(self._numbered(piece.choice).say(piece.text))

    def texts(self, parts: Sequence[bytes]) -> Texts | None:
        """Read as many of the next events as are a piece of one choice's text each, and no more."""
        texts = None if self._done or self._closed else read_pieces(parts)
        if texts is None:
            return None
        number, pieces = texts
        choice = self._choices.get(number) or self._numbered(number)
        return texts if choice.said(pieces) else None
