"""Tolerant reader of one attempt, choice by choice: one event in, turn events out; never raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from proxy.sse import SseEvent
from proxy.wire import AttemptMessage, Decoded, Texts
from proxy.wire.openai.tolerant import read_json
from proxy.wire.openai.usage import counts
from rules_engine.events import Broken, Finished, TurnEvent

END_MARK = "[DONE]"
_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


class Choice(Protocol):
    """One choice of an answer, as its API writes it."""

    def read(self, raw: Mapping[str, Any]) -> list[TurnEvent]:
        """Read one entry of `choices`."""

    def close(self) -> list[TurnEvent]:
        """Let out what was held back."""

    def message(self) -> AttemptMessage:
        """Answer with everything that was let out so far."""


C = TypeVar("C", bound=Choice)


class AnswerDecoder(Generic[C]):
    """Reads one attempt; implements `proxy.wire.Decoder` for any API that sends `choices`.

    `choice` makes the reader of a choice by its number.
    """

    def __init__(self, choice: Callable[[int], C]) -> None:
        self._new = choice
        self._choices: dict[int, C] = {}
        self._done = False
        self._closed = False

    def decode(self, event: SseEvent) -> Decoded:
        """Read the next event of a stream; events after the end mark count for nothing."""
        if self._done or self._closed or event.data is None or event.name == "ping":
            return Decoded()
        data = event.data.strip()
        if data == END_MARK:
            self._done = True
            return Decoded(done=True)
        if not data:
            return Decoded()
        if event.name == "error":
            return self._chunk(read_json(data), named_error=True)
        said = self._said(data)
        return Decoded(said) if said is not None else self._chunk(read_json(data))

    def texts(self, _parts: Sequence[bytes]) -> Texts | None:
        """Read as many of the next events as are a piece of one choice's text each, and no more."""
        return None

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
        return (self._choices.get(choice) or self._new(choice)).message()

    def _said(self, _data: str) -> tuple[TurnEvent, ...] | None:
        """Read a chunk that says nothing but text, where an API has a short way to that."""
        return None

    def _chunk(self, value: Any, *, named_error: bool = False) -> Decoded:
        if not isinstance(value, dict):
            listed = isinstance(value, list) and any(_has_error(item) for item in value)
            return Decoded(malformed=True, error=listed)
        raws = [raw for raw in _choices(value) if isinstance(raw, dict)]
        events = [event for raw in raws for event in self._choice(raw).read(raw)]
        error = named_error or _has_error(value) or any(raw.get("error") for raw in raws)
        return Decoded(events=tuple(events), usage=counts(value, raws), error=bool(error))

    def _choice(self, raw: Mapping[str, Any]) -> C:
        index = raw.get("index")
        return self._numbered(index if isinstance(index, int) else 0)

    def _numbered(self, number: int) -> C:
        choice = self._choices.get(number)
        if choice is None:
            choice = self._choices[number] = self._new(number)
        return choice


def _choices(value: Mapping[str, Any]) -> list[Any]:
    choices = value.get("choices")
    if isinstance(choices, dict):
        return [choices]
    return choices if isinstance(choices, list) else []


def _has_error(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("error") or value.get("object") == "error")
