"""One legal client stream out of several attempts, for every API that sends `choices`.

The first attempt's events are not changed; what follows them is written so that no client can
tell that there was more than one attempt.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from proxy.sse import SseEvent
from proxy.wire import Decoded, WireRequest
from proxy.wire.openai import usage
from proxy.wire.openai.chunk import EMPTY, Halves, JsonObject, choices, failure, read
from proxy.wire.openai.outgoing import DONE, Outgoing
from proxy.wire.openai.shown import Shown
from rules_engine.events import TextDelta

_ENVELOPE = ("id", "object", "created", "model", "system_fingerprint", "choices", "obfuscation")


@dataclass(slots=True)
class Attempt:
    """What is held of an attempt behind the first, until it is accepted.

    ending, tail: the chunks around its finish reason and its usage. done: end mark read.
    """

    seam: str = ""
    halves: Halves = field(default_factory=Halves)
    reason: str = ""
    ending: JsonObject = field(default_factory=dict)
    tail: JsonObject | None = None
    done: bool = False
    failed: bool = False


class AnswerContinuation(ABC):
    """The client's stream of one turn; what a choice looks like is for the API to say.

    Continues answers of one choice only; an uninterrupted one may have any number.
    """

    def __init__(self, request: WireRequest, shown: Shown) -> None:
        self._usage_asked = request.include_usage
        self._shown = shown
        self._out = Outgoing()
        self._attempt = Attempt()
        self._later = False
        self._ended = False

    @property
    def curious(self) -> bool:
        """Whether it looks into each event that goes out, since it does not know who answers."""
        return self._shown.curious

    @abstractmethod
    def first(self, event: SseEvent, decoded: Decoded) -> bytes:
        """Release an event of the first attempt: its raw bytes."""

    def texts_pass(self, raw: bytes, *, has_id: bool) -> bool:
        """Note that events with a piece of text each go out; False while each is of interest."""
        if self._shown.curious:
            return False
        self._out.passed(raw, has_id=has_id)
        self._shown.text = True
        return True

    def reissued(self, seam: str) -> None:
        """Begin a new attempt; `seam` goes out in front of its first text."""
        self._later = True
        self._attempt = Attempt(seam)

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
        out = self._kept_for_the_end()
        out += self._finish_reason(attempt.reason, attempt.ending)
        return out + self._end(mark=bool(attempt.reason) or attempt.done)

    def error(self, message: str, code: str) -> bytes:
        """Make an error event; no end mark follows it."""
        self._ended = True
        return self._out.error(message, code)

    def keep_alive(self) -> bytes:
        """Make a comment that no client takes for an event."""
        return self._out.keep_alive()

    # ---- what the API says

    @abstractmethod
    def _prose(
        self, choice: JsonObject, envelope: JsonObject, decoded: Decoded
    ) -> JsonObject | None:
        """Return what of a choice may go out now, None if nothing is left."""

    @abstractmethod
    def _saying(self, text: str) -> JsonObject:
        """Make a choice of ours that says `text`."""

    @abstractmethod
    def _finishing(self, around: JsonObject, reason: str) -> JsonObject:
        """Make a choice of `around` that says nothing but the finish reason."""

    def _kept_for_the_end(self) -> bytes:
        """Send what could not go out before."""
        return b""

    def _bare(self) -> bool:
        """Whether a chunk without choices may go out."""
        return True

    # ---- what is the same

    def _rewritten(self, chunk: JsonObject, decoded: Decoded) -> bytes:
        """Send the chunk's prose; the rest, finish reason and usage are kept for the end."""
        self._take_usage(chunk)
        envelope = {key: value for key, value in chunk.items() if key not in ("usage", "error")}
        kept = [self._prose(choice, envelope, decoded) for choice in choices(chunk)]
        said = [choice for choice in kept if choice is not None]
        if said:
            text = any(isinstance(event, TextDelta) and event.text for event in decoded.events)
            return self._send({**envelope, "choices": said}, text=text)
        bare = not kept and self._bare() and chunk.get("usage") is None
        if bare and any(v not in EMPTY for k, v in envelope.items() if k not in _ENVELOPE):
            return self._send({**envelope, "choices": []})
        return b""

    def _take_usage(self, chunk: JsonObject) -> None:
        """Keep the last usage."""
        self._attempt.tail = usage.taken(chunk) or self._attempt.tail

    def _finish_reason(self, reason: str, ending: JsonObject) -> bytes:
        """Send the one finish reason."""
        if not reason or self._shown.finish:
            return b""
        self._shown.finish = True
        shell = ending or {**self._shown.who.begin(), "choices": [{"index": 0}]}
        return self._send({**shell, "choices": [self._finishing(shell["choices"][0], reason)]})

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
        chunk = {**self._shown.who.begin(), "choices": [self._saying(text)]}
        return self._send(chunk, text=True)

    def _send(self, chunk: JsonObject, *, text: bool = False) -> bytes:
        """Write the chunk as an event of this answer; in front of its text what seam is due."""
        out = b""
        if text and self._attempt.seam:
            seam, self._attempt.seam = self._attempt.seam, ""
            out = self._said(seam)
        self._shown.text = self._shown.text or text
        return out + self._out.event(self._shown.stamp(chunk))
