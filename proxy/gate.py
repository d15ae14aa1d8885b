"""The outermost layer: refuses whom `trust` refuses, and answers preflights."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proxy.client import Client
from proxy.config import ListenSettings
from proxy.errors import Fault
from proxy.headers import Field, first
from proxy.trust import TOKEN_COOKIE, Trust, allowing, is_loopback, preflight, without_token


def trust_of(listen: ListenSettings) -> Trust:
    """Read what the settings say; an address beyond this machine makes the token necessary."""
    token = listen.token.get_secret_value() if listen.token else None
    return Trust(
        hosts=(*listen.allowed_hosts, listen.host),
        origins=listen.allowed_origins,
        token=token,
        token_needed=token is not None or not is_loopback(listen.host),
    )


class Gate:
    """ASGI middleware around the whole app."""

    def __init__(self, app: ASGIApp, trust: Trust) -> None:
        self._app = app
        self._trust = trust

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request in, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: list[Field] = scope["headers"]
        origin = None
        try:
            origin = self._trust.check(headers)
            granted = None
            if origin is not None and scope["method"] == "OPTIONS":
                granted = preflight(origin, headers)
            if granted is None:
                query = scope["query_string"]
                in_query = self._trust.check_token(scope["path"], query, headers)
        except Fault as fault:
            await Client(send).fault(fault)
            return
        if granted is not None:
            await send({"type": "http.response.start", "status": 204, "headers": granted})
            await send({"type": "http.response.body"})
            return
        extra = []
        if in_query:
            extra = [_remember(self._trust)]
            scope = {**scope, "query_string": without_token(query)}
        await self._app(scope, receive, _adding(send, origin, extra))


def _remember(trust: Trust) -> Field:
    value = f"{TOKEN_COOKIE}={trust.token}; Path=/audit; HttpOnly; SameSite=Strict"
    return (b"set-cookie", value.encode())


def _adding(send: Send, origin: str | None, extra: list[Field]) -> Send:
    if origin is None and not extra:
        return send

    async def adding(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*message["headers"], *extra]
            if origin is not None and first(headers, b"access-control-allow-origin") is None:
                headers += allowing(origin)
            message = {**message, "headers": headers}
        await send(message)

    return adding
