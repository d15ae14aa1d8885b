"""Tolerant reader of chat chunks: one event in, turn events out; never raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.quirks import Profile
from proxy.sse import SseEvent
from proxy.wire import AttemptMessage, Decoded
from proxy.wire.chat.channel import Growth, Joiner, ThinkSplit, whole
from proxy.wire.chat.reasoning import (
    REASONING_FIELDS,
    ReasoningFields,
    Thought,
    is_thinking,
    part_text,
    read_thought,
)
from proxy.wire.chat.slots import Calls, ToolEvent, call_of, raw_of
from proxy.wire.chat.tolerant import read_json, write_json
from rules_engine.events import (
    Broken,
    Finished,
    FinishReason,
    TextDelta,
    ThinkingDelta,
    TurnEvent,
)

END_MARK = "[DONE]"
_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


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
        return [*self._prose(Thought(thinking, thought.sealed), text), *calls]

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


@dataclass(slots=True)
class ChatDecoder:
    """Reads one attempt on the chat API; implements `proxy.wire.Decoder`.

    What cannot be decided yet is held back and comes with a later event or with `close`: a first
    surrogate half, and under a think-tag profile the begin of a possible tag.
    """

    profile: Profile
    _choices: dict[int, _Choice] = field(default_factory=dict)
    _done: bool = False
    _closed: bool = False

    def decode(self, event: SseEvent) -> Decoded:
        """Read the next event of a stream; events after the end mark count for nothing."""
        if self._done or self._closed or event.data is None or event.name == "ping":
            return Decoded()
        data = event.data.strip()
        if data == END_MARK:
            self._done = True
            return Decoded(done=True)
        return (
            self._chunk(read_json(data), named_error=event.name == "error") if data else Decoded()
        )

    def document(self, body: bytes) -> Decoded:
        """Read a whole JSON answer as one long event (leading white space is allowed).

        `error`: an error document, in a list too, or an answer that has no choices.
        """
        value = read_json(body.removeprefix(_BOM).strip(_BLANK))
        if isinstance(value, list) and value and isinstance(value[0], dict):
            value = value[0]
        lacks_choices = isinstance(value, dict) and not isinstance(value.get("choices"), list)
        return self._chunk(value, named_error=lacks_choices)

    def close(self, *, broken: bool) -> tuple[TurnEvent, ...]:
        """End the output: let out what was held, close the calls, then the end. Idempotent."""
        if self._closed:
            return ()
        self._closed = True
        events = [
            event for index in sorted(self._choices) for event in self._choices[index].close()
        ]
        return (*events, Broken() if broken else Finished())

    def message(self, choice: int) -> AttemptMessage:
        """Answer with what this attempt has said so far on one choice."""
        known = self._choices.get(choice)
        return (known or _Choice(choice, self.profile)).message()

    def _chunk(self, value: Any, *, named_error: bool) -> Decoded:
        if not isinstance(value, dict):
            listed = isinstance(value, list) and any(_has_error(item) for item in value)
            return Decoded(malformed=True, error=listed)
        raws = [raw for raw in _choices(value) if isinstance(raw, dict)]
        events = [event for raw in raws for event in self._choice(raw).read(raw)]
        error = named_error or _has_error(value) or any(raw.get("error") for raw in raws)
        return Decoded(events=tuple(events), usage=_usage(value, raws), error=bool(error))

    def _choice(self, raw: Mapping[str, Any]) -> _Choice:
        index = raw.get("index")
        number = index if isinstance(index, int) else 0
        if number not in self._choices:
            self._choices[number] = _Choice(number, self.profile)
        return self._choices[number]


def _choices(value: Mapping[str, Any]) -> list[Any]:
    choices = value.get("choices")
    if isinstance(choices, dict):
        return [choices]
    return choices if isinstance(choices, list) else []


def _has_error(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("error") or value.get("object") == "error")


def _usage(value: Mapping[str, Any], choices: list[dict[str, Any]]) -> Mapping[str, int] | None:
    """Answer with the last usage object of a chunk; nested counts get dotted names."""
    vendor = value.get("x_groq")
    places = [value, vendor if isinstance(vendor, dict) else {}, *choices]
    found = [place["usage"] for place in places if isinstance(place.get("usage"), dict)]
    return dict(_counts(found[-1], "")) if found else None


def _counts(usage: Mapping[str, Any], prefix: str) -> list[tuple[str, int]]:
    counts: list[tuple[str, int]] = []
    for key, value in usage.items():
        if isinstance(value, dict) and not prefix:
            counts += _counts(value, f"{key}.")
        elif isinstance(value, int) and not isinstance(value, bool):
            counts.append((f"{prefix}{key}", value))
    return counts
