"""An agent that talks to the proxy over HTTP as real ones do: whole history, every time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from proxy.assembly import assemble
from proxy.patience import Patience
from proxy.quirks import PLAIN
from proxy.sse import SseReader
from proxy.wire.chat.decoder import ChatDecoder
from tests.support.grammar import check_stream
from tests.support.proxy import RunningProxy, running_proxy, settings_for
from tests.support.upstream import ScriptedUpstream

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("edit", "write", "bash")
]

# A loaded machine may be slow; what is slow by intent has tests of its own.
PATIENT = Patience(ledger_read=20, ledger_write=20, structures=60)

JsonObject = dict[str, Any]


def write_rules(workspace: Path, **rules: str) -> None:
    """Put rule files where the proxy looks for them."""
    folder = workspace / ".omp" / "rules"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in rules.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


@dataclass
class Agent:
    """One conversation. `messages` is the client view."""

    http: httpx.AsyncClient
    proxy: RunningProxy
    messages: list[JsonObject] = field(default_factory=list)
    tools: Sequence[JsonObject] = tuple(TOOLS)
    stream: bool = True
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, **more: Any) -> JsonObject:
        """The next request's body."""
        body: JsonObject = {"model": "m", "messages": self.messages, "stream": self.stream}
        if self.tools:
            body["tools"] = list(self.tools)
        return body | more

    async def ask(self, text: str, **more: Any) -> JsonObject:
        """Say something and take the answer into the conversation."""
        self.messages.append({"role": "user", "content": text})
        return await self.go(**more)

    async def results(self, *contents: Any, **more: Any) -> JsonObject:
        """Answer every call of the last message, then go on."""
        calls = self.messages[-1]["tool_calls"]
        for call, content in zip(calls, contents, strict=True):
            result = {"role": "tool", "tool_call_id": call["id"], "content": content}
            self.messages.append(result)
        return await self.go(**more)

    async def post(self, **more: Any) -> httpx.Response:
        """Send the conversation as it is; whatever is answered, it stays as it is."""
        url = f"{self.proxy.url}/chat/completions"
        return await self.http.post(url, json=self.body(**more), headers=self.headers)

    async def go(self, **more: Any) -> JsonObject:
        """Send the conversation as it is; the stream's grammar is checked."""
        body = self.body(**more)
        answer = await self.post(**more)
        assert answer.status_code == 200, answer.text
        if self.stream:
            asked = body.get("stream_options", {}).get("include_usage", False)
            assert check_stream(answer.content, include_usage=asked) == []
            message = assembled(answer.content)
        else:
            message = answer.json()["choices"][0]["message"]
        self.messages.append(message)
        return message

    async def audit(self, path: str = "hits") -> list[JsonObject]:
        """Rows of the audit, newest first."""
        answer = await self.http.get(f"{self.proxy.origin}/audit/{path}")
        return list(answer.json()[path])


def assembled(stream: bytes) -> JsonObject:
    """The message that a client makes of a stream."""
    decoder, reader = ChatDecoder(PLAIN), SseReader()
    for event in reader.feed(stream):
        decoder.decode(event)
    decoder.close(broken=False)
    message = decoder.message(0)
    out: JsonObject = {"role": "assistant", "content": message.text or None}
    if message.calls:
        out["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return out


@asynccontextmanager
async def agent_at(
    upstream: ScriptedUpstream,
    workspace: Path,
    *,
    home: Path | None = None,
    grace: float = 0.5,
    patience: Patience = PATIENT,
    **settings: Any,
) -> AsyncIterator[Agent]:
    """A new conversation with a proxy of its own over `workspace`; `home` is empty by default."""
    given = settings_for(
        upstream, **({"workspace": str(workspace), "db": str(workspace / "ttsr.db")} | settings)
    )
    build = partial(assemble, home=home or workspace / "no-home", patience=patience)
    async with (
        running_proxy(given, build, grace=grace) as proxy,
        httpx.AsyncClient(timeout=30) as http,
    ):
        yield Agent(http, proxy)


def sent(upstream: ScriptedUpstream, number: int = -1) -> list[JsonObject]:
    """The messages of one request as the upstream got them."""
    return list(upstream.exchanges[number].request.json["messages"])


def arguments(path: str, new: str) -> str:
    """Arguments of an edit."""
    return json.dumps({"path": path, "new_string": new})
