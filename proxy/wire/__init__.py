"""The wire APIs that the proxy understands; one file (or package) an API.

The relay speaks to these protocols only, so it knows no field of any API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from proxy.conversation import Call, Message
from proxy.quirks import Profile
from proxy.sse import SseEvent
from proxy.views import Edit
from rules_engine.events import TextDelta, TurnEvent


class Watching(StrEnum):
    """What rules may do to the answer of a request."""

    ACTING = "acting"
    OBSERVING = "observing"  # hits are only reported: nothing of ours can be placed
    NOT = "not"


@dataclass(frozen=True, slots=True)
class WireRequest:
    """What the proxy needs to know of a request; `body` is as received.

    tools: declared tool names. forced_tool: the request names the tool that must be called;
    tools_off: it lets none be called.
    structured: the answer must be one document (JSON schema, grammar, prefix completion).
    hints: body values that may name the conversation, by dotted key.
    prefix: the conversation ends on an assistant message that the model is to continue.
    anchored: what a turn leaves can be found again in later requests, as they repeat its answer.
    """

    body: bytes
    model: str
    stream: bool
    choices: int
    include_usage: bool
    tools: tuple[str, ...]
    forced_tool: bool
    structured: bool
    prefix: bool
    messages: tuple[Message, ...]
    hints: tuple[tuple[str, str], ...] = ()
    watching: Watching = Watching.ACTING
    tools_off: bool = False
    anchored: bool = True


class Decoded(NamedTuple):
    """One wire event, read. `events` in the order thinking, text, calls by index, finish.

    usage: the counts of the last usage object; nested ones under dotted names, such as
    `prompt_tokens_details.cached_tokens`.
    """

    events: tuple[TurnEvent, ...] = ()
    done: bool = False  # end mark read: nothing later counts
    usage: Mapping[str, int] | None = None
    error: bool = False  # the upstream reported a failure in the stream
    malformed: bool = False  # data that is no JSON object: counted, forwarded, not read

    @property
    def only_text(self) -> TextDelta | None:
        """The piece of text that is all that the event carries, if that is so."""
        events = self.events
        if len(events) != 1 or self.usage is not None or self.error:
            return None
        only = events[0]
        return only if isinstance(only, TextDelta) else None


@dataclass(frozen=True, slots=True)
class AttemptMessage:
    """The assistant message of one choice of one attempt, as far as it was read.

    `raw_calls`: each call as a JSON object with every key that the upstream sent (signatures),
    aligned with `calls`. `extra`: JSON object of reasoning fields and other message keys that
    must go back byte for byte where the profile asks for it.
    """

    text: str
    reasoning: str
    calls: tuple[Call, ...]
    raw_calls: tuple[bytes, ...]
    extra: bytes


# Of events that carry a piece of one choice's text each, and no more: the choice, the pieces.
Texts = tuple[int, list[str]]


class Decoder(Protocol):
    """Reads one attempt. Pure; never raises on any bytes."""

    def texts(self, parts: Sequence[bytes]) -> Texts | None:
        """Read as many of the next events as are a piece of one choice's text each, and no more.

        `parts`: what stands in front of their blank lines (LF). None where the first is anything
        else, or where one takes more than a glance; then nothing was read. What this reads,
        `decode` would read the same.
        """

    def decode(self, event: SseEvent) -> Decoded:
        """Read the next event of a stream."""

    def document(self, body: bytes) -> Decoded:
        """Read a whole JSON answer as one long event (leading white space is allowed)."""

    def close(self, *, broken: bool) -> tuple[TurnEvent, ...]:
        """End the output: close what is open, then `Finished` or `Broken`. Idempotent."""

    def message(self, choice: int) -> AttemptMessage:
        """Answer with what this attempt has said so far on one choice.

        What `decode` holds back, as it cannot be decided yet, is missing until `close`.
        """


class Continuation(Protocol):
    """Turns the released events of all attempts into the client's one stream.

    The first attempt's events go out as they came (`first` only takes notes); later ones are
    rewritten. Holds no I/O: every method returns the bytes to send.
    """

    @property
    def curious(self) -> bool:
        """Whether it looks into each event that goes out, since it does not know who answers."""

    def first(self, event: SseEvent, decoded: Decoded) -> bytes:
        """Release an event of the first attempt: its raw bytes."""

    def texts_pass(self, raw: bytes, *, has_id: bool) -> bool:
        """Note that events of the first attempt that carry a piece of text each go out as `raw`.

        False while it is curious: then they are to be released as others are.
        """

    def first_without(
        self, event: SseEvent, decoded: Decoded, calls: frozenset[tuple[int, int]]
    ) -> bytes:
        """Release it with the pieces of `calls` cut out (the only first-attempt rewrite)."""

    def reissued(self, seam: str) -> None:
        """Begin a new attempt; `seam` opens its text if any was released before."""

    def unreleased(self, event: SseEvent) -> None:
        """An event is held for good; it may still name the answer."""

    def later(self, event: SseEvent, decoded: Decoded) -> bytes:
        """Release an event of a later attempt: rewritten, or empty if nothing is left."""

    def finish(self) -> bytes:
        """Accept the last attempt, which is complete: calls, finish reason, usage, end mark."""

    def broken(self, calls: frozenset[tuple[int, int]]) -> bytes:
        """A later attempt broke off: its finished calls, without the unfinished `calls`, no end."""

    def withheld(self, text: str) -> bytes:
        """End the message, well-formed, with `text`: no further attempt is made."""

    def error(self, message: str, code: str) -> bytes:
        """Write an error event in this API's format; no end mark follows it."""

    def keep_alive(self) -> bytes:
        """Write a comment that no client takes for an event."""


class WireApi(Protocol):
    """One wire API. `paths` stand behind whatever base path the client was given."""

    name: str
    paths: tuple[str, ...]

    def read(self, body: bytes) -> WireRequest:
        """Read a request; raises `proxy.errors.BadRequest` naming the field that is wrong."""

    def spliced(self, request: WireRequest, edits: Sequence[Edit]) -> bytes:
        """Apply `edits` to the body; the very same bytes where there are none.

        Messages that no edit touches keep their bytes, as do all other keys of the body.
        """

    def decoder(self, profile: Profile) -> Decoder:
        """Make a fresh decoder for one attempt."""

    def continuation(self, request: WireRequest) -> Continuation:
        """Make the client's stream of one turn."""

    def user(self, text: str) -> bytes:
        """Render a user message of ours."""

    def system(self, text: str) -> bytes:
        """A system message of ours, for a request that has none, rendered."""

    def partial(self, text: str) -> bytes:
        """Render an assistant message that holds the kept part of a cut attempt."""

    def refused(
        self, message: AttemptMessage, results: Sequence[str], profile: Profile
    ) -> tuple[bytes, ...]:
        """Render a finished message with all its calls, and one tool message a call."""

    def document(self, message: str, request: WireRequest) -> bytes:
        """Render a non-streaming answer of ours that says `message` (exhaustion)."""

    def error_body(self, message: str, kind: str, code: str) -> bytes:
        """Render the JSON body of an error answer in this API's shape."""
