"""A real relay over a real ledger, up to where it would ask the upstream."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
from starlette.requests import Request
from starlette.types import ASGIApp
from starlette.types import Message as AsgiMessage

from proxy import agents
from proxy.app import create_app
from proxy.audit import Audit
from proxy.config import Settings
from proxy.errors import ConnectFailed
from proxy.headers import Field
from proxy.patience import Patience
from proxy.pulse import Pulse
from proxy.quirks import PLAIN
from proxy.relay import Relay, Services
from proxy.routing import Target
from proxy.store.sqlite import SqliteStore
from proxy.upstream import Upstream, UpstreamResponse
from proxy.views import Edit
from proxy.wire import WireRequest
from proxy.wire.chat import ChatApi
from rules_engine.ruleset import RuleSet
from tests.support.python_calls import PythonCalls

NO_RULES = RuleSet("", (), (), ())
CALL = {"name": "read", "arguments": '{"path":"a.ts"}'}


class NotingApi(ChatApi):
    """The chat API; remembers what it read and counts the bodies that it edited."""

    def __init__(self) -> None:
        self.asked: list[WireRequest] = []
        self.edited = 0

    def read(self, body: bytes) -> WireRequest:
        self.asked.append(super().read(body))
        return self.asked[-1]

    def spliced(self, request: WireRequest, edits: Sequence[Edit]) -> bytes:
        self.edited += bool(edits)
        return super().spliced(request, edits)


@dataclass(slots=True)
class Sink:
    """Stands where the upstream would: takes what is sent, and refuses."""

    bodies: list[bytes] = field(default_factory=list)
    asked: Callable[[], None] = lambda: None

    async def open(
        self, _method: str, _path: bytes, _query: bytes, _headers: Sequence[Field], body: bytes
    ) -> UpstreamResponse:
        self.asked()
        self.bodies.append(body)
        raise ConnectFailed("nothing listens here")


@dataclass(slots=True)
class RequestPath:
    """Sends bodies through. `statements`: the SQL that the ledger's reader ran, in order."""

    app: ASGIApp
    relay: Relay
    wire: NotingApi
    sink: Sink
    store: SqliteStore
    statements: list[str] = field(default_factory=list)

    async def send(self, body: bytes) -> bytes:
        """Answer with the body that went upstream."""

        async def receive() -> AsgiMessage:
            return {"type": "http.request", "body": body, "more_body": False}

        async def stay() -> AsgiMessage:
            await anyio.sleep_forever()
            raise AssertionError

        async def send(_message: AsgiMessage) -> None:
            pass

        scope = {"type": "http", "method": "POST", "headers": [], "client": ("127.0.0.1", 1)}
        request = Request(scope, receive)
        answer = await self.relay(request, Target(b"/chat/completions"))
        await answer(request.scope, stay, send)
        return self.sink.bodies[-1]

    async def calls(self, body: bytes) -> int:
        """Count the Python functions called from a request's receipt to the upstream's opening."""
        coming = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> AsgiMessage:
            for message in coming:
                return message
            await anyio.sleep_forever()
            raise AssertionError

        async def send(_message: AsgiMessage) -> None:
            pass

        with PythonCalls() as calls:
            self.sink.asked = calls.stop
            await self.app(_scope(body), receive, send)
        return calls.number


def _scope(body: bytes) -> dict[str, Any]:
    """What the server makes of a request of a client that nobody knows."""
    fields = {
        "host": "127.0.0.1:8787",
        "accept": "*/*",
        "user-agent": "node",
        "authorization": "Bearer sk-0123456789abcdef",
        "content-type": "application/json",
        "content-length": str(len(body)),
    }
    return {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "raw_path": b"/v1/chat/completions",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
        "client": ("127.0.0.1", 1),
    }


@contextlib.asynccontextmanager
async def request_path(place: Path, rules: RuleSet = NO_RULES) -> AsyncIterator[RequestPath]:
    """Open a ledger and put a relay and its app in front of it."""
    settings = Settings.model_validate({"upstream": {"url": "http://127.0.0.1:9/v1"}})

    async def in_force(_label: str | None, _role: str) -> RuleSet:
        return rules

    store = await SqliteStore.open(place / "ledger.db")
    sink, wire = Sink(), NotingApi()
    services = Services(
        settings=settings,
        upstream=cast("Upstream", sink),
        store=store,
        audit=Audit(store),
        rules=in_force,
        directory=lambda: str(place),
        agents=agents.collect(),
        quirks=lambda _model: PLAIN,
        loopback=True,
        wall=lambda: 0.0,
        pulse=Pulse(),
        patience=Patience(ledger_read=20),
    )
    relay = Relay(services, wire)
    app = create_app(settings, upstream=services.upstream, relay=relay)
    path = RequestPath(app, relay, wire, sink, store)
    await store.find("local", ("none",))  # opens the reader's connection
    connection = store._reader._connection
    assert connection is not None
    connection.set_trace_callback(path.statements.append)
    try:
        yield path
    finally:
        await store.close()


def conversation(rounds: int, size: int = 100) -> list[dict[str, Any]]:
    """A prompt, a question, and as many calls with results of `size` characters."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Do it."},
    ]
    for number in range(rounds):
        call = {"id": f"call_{number:020x}", "type": "function", "function": CALL}
        messages += [
            {"role": "assistant", "content": f"Step {number}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "é\n" * (size // 2)},
        ]
    return messages


def body_of(messages: Sequence[dict[str, Any]]) -> bytes:
    """A request as clients in JavaScript write it."""
    asked = {"model": "m", "messages": messages, "stream": True}
    return json.dumps(asked, ensure_ascii=False, separators=(",", ":")).encode()
