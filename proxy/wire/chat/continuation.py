"""One legal client stream out of several attempts.

The first attempt's events are not changed; what follows them is written so that no client can
tell that there was more than one attempt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from proxy.sse import SseEvent
from proxy.wire import Decoded, WireRequest
from proxy.wire.chat.calls import HeldCalls, delta_of, entries_of, place
from proxy.wire.chat.reasoning import LIST_FIELDS, SEAL_FIELDS, TEXT_FIELDS
from proxy.wire.chat.shown import Shown
from proxy.wire.chat.slots import LEGACY, Calls
from proxy.wire.openai import usage
from proxy.wire.openai.chunk import (
    EMPTY,
    Halves,
    JsonObject,
    choice_number,
    choices,
    failure,
    read,
    written,
)
from proxy.wire.openai.outgoing import DONE, Outgoing
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

_ENVELOPE = ("id", "object", "created", "model", "system_fingerprint", "choices", "obfuscation")
_REASONING = (*TEXT_FIELDS, *LIST_FIELDS, *SEAL_FIELDS)
_CALL_EVENTS = (ToolOpened, ToolNamed, ToolArguments, ToolClosed)
_NO_CALLS: frozenset[tuple[int, int]] = frozenset()


@dataclass(slots=True)
class _Attempt:
    """What is held of an attempt behind the first, until it is accepted.

    ending, tail: the chunks around its finish reason and its usage. done: end mark read.
    """

    seam: str = ""
    hide_reasoning: bool = False
    calls: HeldCalls = field(default_factory=HeldCalls)
    halves: Halves = field(default_factory=Halves)
    reason: str = ""
    ending: JsonObject = field(default_factory=dict)
    tail: JsonObject | None = None
    done: bool = False
    failed: bool = False


class ChatContinuation:
    """The client's chat stream of one turn; implements `proxy.wire.Continuation`.

    Continues answers of one choice only; an uninterrupted one may have any number.
    """

    def __init__(self, request: WireRequest) -> None:
        self._usage_asked = request.include_usage
        self._shown = Shown(request.model)
        self._out = Outgoing()
        self._calls: dict[int, Calls] = {}
        self._attempt = _Attempt()
        self._later = False
        self._ended = False

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
        """Begin a new attempt; `seam` goes out in front of its first text."""
        self._later = True
        self._attempt = _Attempt(seam, hide_reasoning=self._shown.text)

    def unreleased(self, event: SseEvent) -> None:
        """Hold an event for good. It still names the answer and its usage, for `withheld`."""
        if (chunk := read(event.data)) is not None:
            self._shown.who.miss(chunk)
            self._take_usage(chunk)

    def later(self, event: SseEvent, decoded: Decoded) -> bytes:
        """Release an event of a later attempt: rewritten, or empty if nothing is left."""
        attempt = self._attempt
        if attempt.done or decoded.done:
            attempt.done = True
            return b""
        chunk = read(event.data)
        if decoded.error:
            attempt.failed = True
            said = self._rewritten(chunk, decoded) if chunk and decoded.events else b""
            return said + self._out.event(failure(event.data or ""))
        if event.data is None or event.name == "ping":
            return self.keep_alive() if event.raw.lstrip().startswith(b":") else b""
        return self._rewritten(chunk, decoded) if chunk is not None else b""

    def finish(self) -> bytes:
        """End an accepted and complete attempt: calls, finish reason, usage, end mark.

        Empty where the first attempt is the answer, or where the upstream reported a failure.
        """
        attempt = self._attempt
        if not self._later or self._ended or attempt.failed:
            return b""
        out = self._calls_in_order()
        out += self._finish_reason(attempt.reason, attempt.ending)
        return out + self._end(mark=bool(attempt.reason) or attempt.done)

    def broken(self, calls: frozenset[tuple[int, int]]) -> bytes:
        """Leave off after a broken attempt: its calls but for the unfinished `calls`, no end."""
        if not self._later or self._ended:
            return b""
        self._ended = True
        self._attempt.calls.drop(frozenset(call for _, call in calls))
        return self._calls_in_order()

    def withheld(self, text: str) -> bytes:
        """End an exhausted turn with a well-formed message that says `text`."""
        if self._ended:
            return b""
        gap = "\n\n" if self._shown.text and not self._attempt.seam else ""
        out = self._said(gap + text)
        return out + self._finish_reason("stop", {}) + self._end(mark=True)

    def error(self, message: str, code: str) -> bytes:
        """Make an error event; no end mark follows it."""
        self._ended = True
        return self._out.error(message, code)

    def keep_alive(self) -> bytes:
        """Make a comment that no client takes for an event."""
        return self._out.keep_alive()

    def _heard(
        self, event: SseEvent, decoded: Decoded, calls: frozenset[tuple[int, int]]
    ) -> tuple[JsonObject | None, bool]:
        """Take notes of a first-attempt event; its chunk without `calls`, and whether that cut."""
        shown = self._shown
        self._out.passed(event)
        opened = shown.hear(decoded, calls)
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

    def _rewritten(self, chunk: JsonObject, decoded: Decoded) -> bytes:
        """Send the chunk's prose; its calls, finish reason and usage are kept for the end."""
        self._take_usage(chunk)
        envelope = {key: value for key, value in chunk.items() if key not in ("usage", "error")}
        kept = [self._prose(choice, envelope, decoded) for choice in choices(chunk)]
        said = [choice for choice in kept if choice is not None]
        if said:
            return self._send({**envelope, "choices": said}, text=bool(_text(decoded.events)))
        # An empty array of choices behind a call ends the collection of calls in some clients.
        bare = not kept and not self._shown.calls and chunk.get("usage") is None
        if bare and any(v not in EMPTY for k, v in envelope.items() if k not in _ENVELOPE):
            return self._send({**envelope, "choices": []})
        return b""

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
            self._attempt.calls.take(entries_of(delta), shell, complete=whole)
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
        hidden = self._attempt.hide_reasoning
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

    def _take_usage(self, chunk: JsonObject) -> None:
        """Keep the last usage; a few upstreams put it into the choice."""
        self._attempt.tail = usage.taken(chunk) or self._attempt.tail

    def _calls_in_order(self) -> bytes:
        out: list[bytes] = []
        for call in self._attempt.calls.sent(self._shown.indices):
            for shell, delta in call:
                choice = {**shell["choices"][0], "delta": delta, "finish_reason": None}
                out.append(self._send({**shell, "choices": [choice]}))
            self._shown.calls = True
        return b"".join(out)

    def _finish_reason(self, reason: str, ending: JsonObject) -> bytes:
        """Send the one finish reason: what clients do with calls depends on it."""
        if not reason or self._shown.finish:
            return b""
        if self._shown.calls:
            reason = LEGACY if self._attempt.calls.legacy else "tool_calls"
        elif reason in ("tool_calls", LEGACY):
            reason = "stop"
        self._shown.finish = True
        shell = ending or {**self._shown.who.begin(), "choices": [{"index": 0}]}
        choice = {**shell["choices"][0], "delta": {}, "finish_reason": reason}
        return self._send({**shell, "choices": [choice]})

    def _end(self, *, mark: bool) -> bytes:
        self._ended = True
        out, tail = b"", self._attempt.tail
        if self._usage_asked and tail is not None:
            out = self._send(tail)
        if mark and not self._shown.done:
            self._shown.done = True
            out += DONE
        return out

    def _said(self, text: str) -> bytes:
        """Send text of ours."""
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        return self._send({**self._shown.who.begin(), "choices": [choice]}, text=True)

    def _send(self, chunk: JsonObject, *, text: bool = False) -> bytes:
        """Write the chunk as an event of this answer; in front of its text what seam is due."""
        out = b""
        if text and self._attempt.seam:
            seam, self._attempt.seam = self._attempt.seam, ""
            out = self._said(seam)
        self._shown.text = self._shown.text or text
        return out + self._out.event(self._shown.stamp(chunk))


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
