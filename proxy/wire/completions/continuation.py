"""The client's one stream of a plain completion."""

from __future__ import annotations

from proxy.sse import SseEvent
from proxy.wire import Decoded, WireRequest
from proxy.wire.openai.chunk import EMPTY, JsonObject, choice_number, read
from proxy.wire.openai.continuation import AnswerContinuation
from proxy.wire.openai.envelope import Envelope
from proxy.wire.openai.shown import Shown
from rules_engine.events import FinishReason

_CHUNK = "text_completion"
_MADE = "cmpl-ttsr"
_OWN = ("index", "text", "logprobs", "finish_reason")


class CompletionsContinuation(AnswerContinuation):
    """The client's completion of one turn; implements `proxy.wire.Continuation`."""

    def __init__(self, request: WireRequest) -> None:
        super().__init__(request, Shown(Envelope(_CHUNK, _MADE, request.model)))

    def first(self, event: SseEvent, decoded: Decoded) -> bytes:
        """Release an event of the first attempt: its raw bytes."""
        self._out.passed(event.raw, has_id=event.has_id)
        self._shown.hear(decoded)
        if self._shown.curious and (chunk := read(event.data)) is not None:
            self._shown.look(chunk)
        return event.raw

    def first_without(
        self, event: SseEvent, decoded: Decoded, _calls: frozenset[tuple[int, int]]
    ) -> bytes:
        """There are no calls to cut out."""
        return self.first(event, decoded)

    def broken(self, _calls: frozenset[tuple[int, int]]) -> bytes:
        """Nothing of ours stands behind a completion that broke off."""
        self._ended = True
        return b""

    def withheld(self, _text: str) -> bytes:
        """Nothing but a call is ever withheld."""
        raise RuntimeError("plain completions have no calls")

    def _prose(
        self, choice: JsonObject, envelope: JsonObject, decoded: Decoded
    ) -> JsonObject | None:
        number, text = choice_number(choice), choice.get("text")
        more = {key: value for key, value in choice.items() if key not in _OWN}
        for event in decoded.events:
            if isinstance(event, FinishReason) and event.choice == number:
                self._attempt.reason = event.reason
                self._attempt.ending = {**envelope, "choices": [{"index": number, **more}]}
        said = self._attempt.halves.joined("text", text) if isinstance(text, str) else ""
        # The other keys of a choice that ends go out with its finish reason.
        ends = choice.get("finish_reason") not in EMPTY
        if not said and (ends or all(value in EMPTY for value in more.values())):
            return None
        return {**choice, "index": number, "text": said, "finish_reason": None}

    def _saying(self, text: str) -> JsonObject:
        return {"index": 0, "text": text, "logprobs": None, "finish_reason": None}

    def _finishing(self, around: JsonObject, reason: str) -> JsonObject:
        return {**around, "text": "", "logprobs": None, "finish_reason": reason}
