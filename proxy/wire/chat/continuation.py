"""The client's one chat stream: how its chunks are cut, and written again behind the first attempt.

Calls of later attempts go out at the end, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from proxy.sse import SseEvent
from proxy.wire import Decoded, WireRequest
from proxy.wire.chat.calls import HeldCalls, delta_of, entries_of, place
from proxy.wire.chat.reasoning import LIST_FIELDS, SEAL_FIELDS, TEXT_FIELDS
from proxy.wire.chat.shown import ChatShown
from proxy.wire.chat.slots import LEGACY, Calls
from proxy.wire.openai.chunk import (
    EMPTY,
    JsonObject,
    choice_number,
    choices,
    read,
    written,
)
from proxy.wire.openai.continuation import AnswerContinuation
from proxy.wire.openai.envelope import Envelope
from rules_engine.events import (
    FinishReason,
    TextDelta,
    ThinkingDelta,
    ToolArguments,
    ToolClosed,
    ToolNamed,
    ToolOpened,
    TurnEvent,
)

_CHUNK = "chat.completion.chunk"
_MADE = "chatcmpl-ttsr"
_REASONING = (*TEXT_FIELDS, *LIST_FIELDS, *SEAL_FIELDS)
_CALL_EVENTS = (ToolOpened, ToolNamed, ToolArguments, ToolClosed)
_NO_CALLS: frozenset[tuple[int, int]] = frozenset()


class ChatContinuation(AnswerContinuation):
    """The client's chat stream of one turn; implements `proxy.wire.Continuation`."""

    _shown: ChatShown

    def __init__(self, request: WireRequest) -> None:
        super().__init__(request, ChatShown(Envelope(_CHUNK, _MADE, request.model)))
        self._calls: dict[int, Calls] = {}
        self._held = HeldCalls()
        self._hides_reasoning = False

    def first(self, event: SseEvent, decoded: Decoded) -> bytes:
        """Release an event of the first attempt: its raw bytes."""
        self._heard(event, decoded, _NO_CALLS)
        return event.raw

    def first_without(
        self, event: SseEvent, decoded: Decoded, calls: frozenset[tuple[int, int]]
    ) -> bytes:
        """Do the same with the pieces of `calls` cut out; raw where there are none in it."""
        chunk, cut = self._heard(event, decoded, calls)
        if chunk is None or not cut:
            return event.raw
        if not any(_says(choice) for choice in choices(chunk)):
            return b""
        name = b"" if event.name == "message" else b"event: " + event.name.encode() + b"\n"
        return name + written(chunk)

    def reissued(self, seam: str) -> None:
        """Begin a new attempt; behind text its reasoning is not shown."""
        super().reissued(seam)
        self._held = HeldCalls()
        self._hides_reasoning = self._shown.text

    def broken(self, calls: frozenset[tuple[int, int]]) -> bytes:
        """Leave off after a broken attempt: its calls but for the unfinished `calls`, no end."""
        if not self._later or self._ended:
            return b""
        self._ended = True
        self._held.drop(frozenset(call for _, call in calls))
        return self._kept_for_the_end()

    def withheld(self, text: str) -> bytes:
        """End an exhausted turn with a well-formed message that says `text`."""
        if self._ended:
            return b""
        gap = "\n\n" if self._shown.text and not self._attempt.seam else ""
        out = self._said(gap + text)
        return out + self._finish_reason("stop", {}) + self._end(mark=True)

    def _heard(
        self, event: SseEvent, decoded: Decoded, calls: frozenset[tuple[int, int]]
    ) -> tuple[JsonObject | None, bool]:
        """Take notes of a first-attempt event; its chunk without `calls`, and whether that cut."""
        shown = self._shown
        self._out.passed(event.raw, has_id=event.has_id)
        opened = shown.hear_calls(decoded, calls)
        chunk = read(event.data) if opened or calls or shown.curious else None
        if chunk is None:
            self._follow(decoded.events)
            return None, False
        shown.look(chunk)
        cuts = [self._cut(choice, calls) for choice in choices(chunk)]
        return chunk, any(cuts)

    def _follow(self, events: Iterable[TurnEvent]) -> None:
        """Add arguments to calls that are known, without reading the event again."""
        for event in events:
            if isinstance(event, ToolArguments) and event.choice in self._calls:
                for slot in self._calls[event.choice].slots[event.call : event.call + 1]:
                    slot.pieces.append(event.text)

    def _cut(self, choice: JsonObject, calls: frozenset[tuple[int, int]]) -> bool:
        """Take the pieces of `calls` out of a choice; answer whether there were any."""
        number, delta = choice_number(choice), delta_of(choice)
        entries = entries_of(delta)
        known = self._calls.setdefault(number, Calls(number))
        whole = delta is choice.get("message") and not known.slots
        places = [(number, place(known, entry, complete=whole)) for entry in entries]
        kept = [entry for entry, at in zip(entries, places, strict=True) if at not in calls]
        if len(kept) == len(entries):
            return False
        delta.pop("tool_calls", None)
        if not any(entry.get("type") == LEGACY for entry in kept):
            delta.pop(LEGACY, None)
        if listed := [entry for entry in kept if entry.get("type") != LEGACY]:
            delta["tool_calls"] = listed
        return True

    def _prose(
        self, choice: JsonObject, envelope: JsonObject, decoded: Decoded
    ) -> JsonObject | None:
        """Return the choice without calls and finish reason, None if nothing is left."""
        number, delta = choice_number(choice), delta_of(choice)
        around = _around(choice)
        shell = {**envelope, "choices": [around]}
        events = [e for e in decoded.events if getattr(e, "choice", None) == number]
        whole = delta is choice.get("message")
        if not whole or any(isinstance(e, _CALL_EVENTS) for e in events):
            self._held.take(entries_of(delta), shell, complete=whole)
        for event in events:
            if isinstance(event, FinishReason):
                self._attempt.reason, self._attempt.ending = event.reason, shell
        said = self._spoken(delta, events, whole=whole)
        finish: JsonObject = {"finish_reason": None} if "finish_reason" in choice else {}
        logprobs = {"logprobs": choice["logprobs"]} if "logprobs" in choice else {}
        left = {**around, "delta": said, **logprobs, **finish}
        return left if _says(left) and (said or not _ends(choice)) else None

    def _spoken(self, delta: JsonObject, events: list[TurnEvent], *, whole: bool) -> JsonObject:
        """Return text, reasoning if it may be shown, and what nobody reads, of a delta.

        whole: it is a complete message, which may repeat what was streamed before.
        """
        hidden = self._hides_reasoning
        thinks = any(isinstance(e, ThinkingDelta) for e in events)
        unwanted = {"role", "tool_calls", LEGACY}
        if hidden or (whole and not thinks):
            unwanted.update(_REASONING)
        said = {key: value for key, value in delta.items() if key not in unwanted}
        if "content" in said and (hidden or whole):
            said["content"] = _text(events)
        for key, value in said.items():
            if isinstance(value, str):
                said[key] = self._attempt.halves.joined(key, value)
        return said if any(value not in EMPTY for value in said.values()) else {}

    def _kept_for_the_end(self) -> bytes:
        out: list[bytes] = []
        for call in self._held.sent(self._shown.indices):
            for shell, delta in call:
                choice = {**shell["choices"][0], "delta": delta, "finish_reason": None}
                out.append(self._send({**shell, "choices": [choice]}))
            self._shown.calls = True
        return b"".join(out)

    def _bare(self) -> bool:
        """An empty array of choices behind a call ends the collection of calls in some clients."""
        return not self._shown.calls

    def _saying(self, text: str) -> JsonObject:
        return {"index": 0, "delta": {"content": text}, "finish_reason": None}

    def _finishing(self, around: JsonObject, reason: str) -> JsonObject:
        """What clients do with calls depends on the reason."""
        if self._shown.calls:
            reason = LEGACY if self._held.legacy else "tool_calls"
        elif reason in ("tool_calls", LEGACY):
            reason = "stop"
        return {**around, "delta": {}, "finish_reason": reason}


def _around(choice: JsonObject) -> JsonObject:
    """Return the choice without what it says."""
    own = ("index", "delta", "message", "finish_reason", "logprobs")
    others = {key: value for key, value in choice.items() if key not in own}
    return {"index": choice_number(choice), **others}


def _says(choice: JsonObject) -> bool:
    """Whether a choice is worth sending."""
    plain = ("index", "delta", "message")
    rest = any(value not in EMPTY for key, value in choice.items() if key not in plain)
    return rest or any(
        value not in EMPTY for key, value in delta_of(choice).items() if key != "role"
    )


def _ends(choice: JsonObject) -> bool:
    """Whether a finish reason stands in a choice: its other keys then go out with that."""
    return choice.get("finish_reason") not in EMPTY


def _text(events: Iterable[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))
