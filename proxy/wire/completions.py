"""The legacy completions API on the wire: read for the audit, never changed.

A prompt is a text without turns, in which nothing of ours can be placed so that it is found again
later: rules only observe here. Requests that fill a gap (`suffix`) are not read for rules at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from proxy.conversation import Message
from proxy.quirks import Profile
from proxy.sse import SseEvent
from proxy.views import Edit
from proxy.wire import (
    AttemptMessage,
    Continuation,
    Decoded,
    Decoder,
    Watching,
    WireApi,
    WireRequest,
)
from rules_engine.events import Broken, Finished, FinishReason, TextDelta, TurnEvent

_BOM = b"\xef\xbb\xbf"
_END_MARK = "[DONE]"


class CompletionsApi:
    """The completions API; implements `proxy.wire.WireApi` as far as observing goes."""

    name: str = "completions"
    paths: tuple[str, ...] = ("/completions",)

    def read(self, body: bytes) -> WireRequest:
        """Read a request. What cannot be read is for the upstream to refuse, so this never does."""
        value = _parsed(body.removeprefix(_BOM))
        root = value if isinstance(value, dict) else {}
        fills = root.get("suffix") not in (None, "")
        options = root.get("stream_options")
        count = root.get("n")
        return WireRequest(
            body=body,
            model=_text(root.get("model")),
            stream=root.get("stream") is True,
            choices=count if isinstance(count, int) and count > 1 else 1,
            include_usage=isinstance(options, dict) and options.get("include_usage") is True,
            tools=(),
            forced_tool=False,
            structured=False,
            prefix=False,
            messages=(Message("user", _text(root.get("prompt"))),),
            watching=Watching.NOT if fills or not root else Watching.OBSERVING,
        )

    def spliced(self, request: WireRequest, edits: Sequence[Edit]) -> bytes:
        """Give the body as it came."""
        return _never() if edits else request.body

    def decoder(self, _profile: Profile) -> Decoder:
        """Make the reader of one answer."""
        return CompletionsDecoder()

    def continuation(self, _request: WireRequest) -> Continuation:
        """Make the client's stream, which is the upstream's."""
        return CompletionsContinuation()

    def user(self, _text: str) -> bytes:
        """A prompt has no messages."""
        _never()

    def system(self, _text: str) -> bytes:
        """A prompt has no messages."""
        _never()

    def partial(self, _text: str) -> bytes:
        """Nothing is cut."""
        _never()

    def refused(
        self, _message: AttemptMessage, _results: Sequence[str], _profile: Profile
    ) -> tuple[bytes, ...]:
        """There are no calls."""
        _never()

    def document(self, _message: str, _request: WireRequest) -> bytes:
        """No turn is ever exhausted."""
        _never()

    def error_body(self, message: str, kind: str, code: str) -> bytes:
        """Render the JSON body of an error answer, in the shape of all OpenAI APIs."""
        return json.dumps({"error": {"message": message, "type": kind, "code": code}}).encode()


@dataclass(slots=True)
class _Choice:
    """What one choice has said. `half`: a first surrogate half that waits for its second."""

    said: list[str] = field(default_factory=list)
    half: str = ""

    def read(self, piece: str) -> str:
        text = self.half + piece
        self.half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return self._keep(text[:-1] if self.half else text)

    def close(self) -> str:
        half, self.half = self.half, ""
        return self._keep(half)

    def _keep(self, text: str) -> str:
        mended = _mended(text)
        self.said.append(mended)
        return mended


class CompletionsDecoder:
    """Reads one answer; implements `proxy.wire.Decoder`."""

    def __init__(self) -> None:
        self._choices: dict[int, _Choice] = {}
        self._done = False
        self._closed = False

    def decode(self, event: SseEvent) -> Decoded:
        """Read the next event of a stream; events after the end mark count for nothing."""
        data = (event.data or "").strip()
        if self._done or self._closed or not data or event.name == "ping":
            return Decoded()
        if data == _END_MARK:
            self._done = True
            return Decoded(done=True)
        return self._chunk(_parsed(data), failed=event.name == "error")

    def document(self, body: bytes) -> Decoded:
        """Read a whole JSON answer as one long event."""
        value = _parsed(body.removeprefix(_BOM))
        lacks_choices = isinstance(value, dict) and not isinstance(value.get("choices"), list)
        return self._chunk(value, failed=lacks_choices)

    def close(self, *, broken: bool) -> tuple[TurnEvent, ...]:
        """End the output. Idempotent."""
        if self._closed:
            return ()
        self._closed = True
        left = ((number, self._choices[number].close()) for number in sorted(self._choices))
        events = [TextDelta(number, text) for number, text in left if text]
        return (*events, Broken() if broken else Finished())

    def message(self, choice: int) -> AttemptMessage:
        """Answer with the text of one choice so far."""
        known = self._choices.get(choice)
        return AttemptMessage("".join(known.said) if known else "", "", (), (), b"{}")

    def _chunk(self, value: Any, *, failed: bool) -> Decoded:
        if not isinstance(value, dict):
            return Decoded(malformed=True)
        listed = value.get("choices")
        choices = [c for c in listed if isinstance(c, dict)] if isinstance(listed, list) else []
        events = [event for choice in choices for event in self._choice(choice)]
        usage = value.get("usage")
        return Decoded(
            tuple(events),
            usage=_counts(usage) if isinstance(usage, dict) else None,
            error=failed or bool(value.get("error")),
        )

    def _choice(self, raw: Mapping[str, Any]) -> list[TurnEvent]:
        index = raw.get("index")
        number = index if isinstance(index, int) else 0
        events: list[TurnEvent] = []
        text = self._choices.setdefault(number, _Choice()).read(_raw_text(raw.get("text")))
        if text:
            events.append(TextDelta(number, text))
        reason = raw.get("finish_reason")
        if isinstance(reason, str) and reason:
            events.append(FinishReason(number, _mended(reason)))
        return events


class CompletionsContinuation:
    """Hands the upstream's stream on; implements `proxy.wire.Continuation` for one attempt."""

    def __init__(self) -> None:
        self._ids = False  # a comment behind an `id` field gets no blank line

    def first(self, event: SseEvent, _decoded: Decoded) -> bytes:
        """Release an event: its raw bytes."""
        self._ids = self._ids or event.has_id
        return event.raw

    def first_without(
        self, event: SseEvent, decoded: Decoded, _calls: frozenset[tuple[int, int]]
    ) -> bytes:
        """There are no calls to cut out."""
        return self.first(event, decoded)

    def reissued(self, _seam: str) -> None:
        """There is no second attempt."""
        _never()

    def unreleased(self, event: SseEvent) -> None:
        """Nothing of an event that stays here is needed."""

    def later(self, _event: SseEvent, _decoded: Decoded) -> bytes:
        """There is no second attempt."""
        _never()

    def finish(self) -> bytes:
        """The upstream's own end is the end."""
        return b""

    def broken(self, _calls: frozenset[tuple[int, int]]) -> bytes:
        """Nothing is added behind an answer that broke off."""
        return b""

    def withheld(self, _text: str) -> bytes:
        """Nothing is withheld."""
        _never()

    def error(self, message: str, code: str) -> bytes:
        """Make an error event; no end mark follows it."""
        report = {"error": {"message": message, "type": "ttsr_error", "code": code}}
        return b"data: " + json.dumps(report).encode() + b"\n\n"

    def keep_alive(self) -> bytes:
        """Make a comment that no client takes for an event."""
        return b": keep-alive\n" if self._ids else b": keep-alive\n\n"


def _never() -> NoReturn:
    """An observing turn places nothing, so whoever asks for it has a fault."""
    raise RuntimeError("rules only observe completions")


def _parsed(text: str | bytes) -> Any:
    """Read JSON, invalid bytes as U+FFFD; None for what is no JSON."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text(value: Any) -> str:
    """Give a string, or strings one a line; a prompt of tokens has no text."""
    listed = value if isinstance(value, list) else [value]
    return _mended("\n".join(each for each in listed if isinstance(each, str)))


def _raw_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _mended(text: str) -> str:
    """Join surrogate halves that met; a lone one becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _counts(usage: Mapping[str, Any]) -> Mapping[str, int]:
    return {key: value for key, value in usage.items() if type(value) is int}


WIRE_API: WireApi = CompletionsApi()
