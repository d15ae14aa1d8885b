"""Chat completions on the wire: read, splice, decode, continue, error shape."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.quirks import Profile
from proxy.views import Edit
from proxy.wire import AttemptMessage, Continuation, Decoder, WireApi, WireRequest
from proxy.wire.chat import render
from proxy.wire.chat.continuation import ChatContinuation
from proxy.wire.chat.decoder import ChatDecoder
from proxy.wire.chat.request import read, spliced


class ChatApi:
    """The chat completions API; implements `proxy.wire.WireApi`, which says what each does."""

    name: str = "chat"
    paths: tuple[str, ...] = ("/chat/completions",)

    def read(self, body: bytes) -> WireRequest:
        """Read a request."""
        return read(body)

    def spliced(self, request: WireRequest, edits: Sequence[Edit]) -> bytes:
        """Apply edits to the request's body."""
        return spliced(request, edits)

    def decoder(self, profile: Profile) -> Decoder:
        """Make the reader of one attempt."""
        return ChatDecoder(profile)

    def continuation(self, request: WireRequest) -> Continuation:
        """Make the client's stream of one turn."""
        return ChatContinuation(request)

    def user(self, text: str) -> bytes:
        """Render a user message."""
        return render.user(text)

    def system(self, text: str) -> bytes:
        """Render a system message of ours."""
        return render.system(text)

    def partial(self, text: str) -> bytes:
        """Render the kept part of a cut attempt."""
        return render.partial(text)

    def refused(
        self, message: AttemptMessage, results: Sequence[str], profile: Profile
    ) -> tuple[bytes, ...]:
        """Render a finished message whose calls were not run, with their results."""
        return render.refused(message, results, profile)

    def document(self, message: str, request: WireRequest) -> bytes:
        """Render a non-streaming answer."""
        return render.document(message, request)

    def error_body(self, message: str, kind: str, code: str) -> bytes:
        """Render an error answer."""
        return render.error_body(message, kind, code)


WIRE_API: WireApi = ChatApi()
