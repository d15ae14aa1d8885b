"""The legacy completions API on the wire: a prompt is read, continued, and reissued with a note.

A prompt is a text without turns: what is added to it can be found again in no later request, so
nothing is left behind there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from proxy.errors import error_body
from proxy.quirks import Profile
from proxy.views import Edit
from proxy.wire import AttemptMessage, Continuation, Decoder, WireApi, WireRequest
from proxy.wire.completions import request as prompts
from proxy.wire.completions.continuation import CompletionsContinuation
from proxy.wire.completions.decoder import CompletionsDecoder


class CompletionsApi:
    """The completions API; implements `proxy.wire.WireApi`, which says what each does."""

    name: str = "completions"
    paths: tuple[str, ...] = ("/completions",)

    def read(self, body: bytes) -> WireRequest:
        """Read a request. What cannot be read is for the upstream to refuse, so this never does."""
        return prompts.read(body)

    def spliced(self, request: WireRequest, edits: Sequence[Edit]) -> bytes:
        """Put what the edits add behind the prompt."""
        return prompts.spliced(request, edits)

    def decoder(self, profile: Profile) -> Decoder:
        """Make the reader of one attempt."""
        return CompletionsDecoder(profile)

    def continuation(self, request: WireRequest) -> Continuation:
        """Make the client's stream of one turn."""
        return CompletionsContinuation(request)

    def user(self, text: str) -> bytes:
        """Render a note as it stands in a prompt."""
        return prompts.note(text)

    def system(self, _text: str) -> bytes:
        """A prompt has no system message."""
        _never("system messages")

    def partial(self, text: str) -> bytes:
        """Render the kept part of a cut attempt as it stands behind its prompt."""
        return prompts.escaped(text)

    def refused(
        self, _message: AttemptMessage, _results: Sequence[str], _profile: Profile
    ) -> tuple[bytes, ...]:
        """A completion has no calls."""
        _never("calls")

    def document(self, _message: str, _request: WireRequest) -> bytes:
        """Nothing but a call is ever withheld."""
        _never("calls")

    def error_body(self, message: str, kind: str, code: str) -> bytes:
        """Render an error answer, in the shape of all OpenAI APIs."""
        return error_body(message, kind, code)


def _never(what: str) -> NoReturn:
    """Whoever asks for it has a fault."""
    raise RuntimeError(f"plain completions have no {what}")


WIRE_API: WireApi = CompletionsApi()
