"""`ttsr demo`: the scripted model and an agent's conversation through the real HTTP path."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx

from proxy.assembly import assemble
from proxy.config import Settings
from proxy.demo import report
from proxy.demo.model import MODEL, ScriptedModel
from proxy.demo.script import STORY, Asked
from proxy.drain import Drain
from proxy.server import serving

_RULES = Path(__file__).parent / "rules"
_TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("write", "edit")
]

JsonObject = dict[str, Any]


def run(say: Callable[[str], None], *, keep: bool) -> None:
    """Play the story; `keep`: stay up afterwards, until interrupted."""
    with tempfile.TemporaryDirectory(prefix="ttsr-demo-") as folder:
        anyio.run(_play, Path(folder), say, keep)


async def _play(folder: Path, say: Callable[[str], None], keep: bool) -> None:  # noqa: FBT001 - anyio.run passes by position
    shutil.copytree(_RULES, folder / ".omp" / "rules")
    model = ScriptedModel(answer for asked in STORY for answer in asked.answers)
    async with serving(model.app()) as upstream:
        settings = Settings.model_validate(
            {
                "upstream": {"url": f"{upstream}/v1"},
                "workspace": str(folder),
                "userRulesDir": str(folder / "none"),
                "db": str(folder / "ttsr.db"),
                "ttsr": {"builtinRules": False},
            }
        )
        stopped = anyio.Event()
        drain = Drain(settings.limits.turns, grace=0)
        drain.at_stop(stopped.set)  # the server takes the signal, so this is how it is heard of
        app = assemble(settings, drain, home=folder / "none")
        async with serving(app, drain) as proxy, httpx.AsyncClient(base_url=proxy) as http:
            await _Agent(http, model, say).play()
            if keep:
                say(f"\nBase URL: {proxy}/v1\nAudit:    {proxy}/audit\nStop with Ctrl-C.")
                await stopped.wait()


@dataclass
class _Agent:
    """Plays the agent: sends the whole conversation every time, as agents do."""

    http: httpx.AsyncClient
    model: ScriptedModel
    say: Callable[[str], None]
    messages: list[JsonObject] = field(default_factory=list)

    async def play(self) -> None:
        """Play every request of the story, then show the audit."""
        while (await self.http.get("/readyz")).is_error:  # noqa: ASYNC110 - known by asking only
            await anyio.sleep(0.05)
        rules = (await self.http.get("/audit")).json()["rules"]
        self.say(report.opening(rule for rule in rules if rule["state"] == "in_force"))
        for number, asked in enumerate(STORY, 1):
            await self._request(number, asked)
        hits = (await self.http.get("/audit/hits")).json()["hits"]
        self.say(report.audit(hits[::-1]))
        self.say("\nYour own rules, your own agent: ttsr serve --upstream URL")

    async def _request(self, number: int, asked: Asked) -> None:
        self.say(report.request(number, asked.words, result=number > 1))
        self._send(asked.words)
        before = len(self.model.asked)
        body = {"model": MODEL, "stream": True, "messages": self.messages, "tools": _TOOLS}
        answer = await self.http.post("/v1/chat/completions", json=body)
        answer.raise_for_status()
        if number > 1:
            self.say(report.reminded(_first_result(self.model.asked[before]), number))
        for attempt, said in enumerate(asked.answers):
            if attempt:
                told = self.model.asked[before + attempt][-1]
                refused = told["role"] == "tool"
                self.say(report.note(told, "refused, told" if refused else "cut, told"))
            self.say(report.wanted(said))
        message = _assembled(answer.text)
        self.messages.append(message)
        self.say(report.got(message))

    def _send(self, words: str) -> None:
        if not self.messages:
            self.messages.append({"role": "user", "content": words})
            return
        call = self.messages[-1]["tool_calls"][0]
        result = {"role": "tool", "tool_call_id": call["id"], "content": words}
        self.messages.append(result)


def _first_result(messages: list[JsonObject]) -> str:
    return str(next(m["content"] for m in messages if m["role"] == "tool"))


def _assembled(stream: str) -> JsonObject:
    """The message that a client makes of the stream."""
    text, name, call_id, arguments = "", "", "", ""
    for line in stream.split("\n"):
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line.removeprefix("data: "))["choices"]:
            delta = choice["delta"]
            text += delta.get("content") or ""
            for call in delta.get("tool_calls", ()):
                call_id = call.get("id", call_id)
                name = call["function"].get("name", name)
                arguments += call["function"].get("arguments", "")
    message: JsonObject = {"role": "assistant", "content": text or None}
    if name:
        function = {"name": name, "arguments": arguments}
        message["tool_calls"] = [{"id": call_id, "type": "function", "function": function}]
    return message
