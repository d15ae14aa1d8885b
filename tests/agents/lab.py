"""The laboratory: a scripted model, the proxy in front of it, and a real agent in a scratch home.

An agent runs in a git repository of its own, with nothing of the caller's environment but `PATH`,
and with every proxy variable pointing nowhere, so that it can reach this machine only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import msgspec

from proxy.assembly import assemble
from tests.support.agent import PATIENT, write_rules
from tests.support.chat import Piece, chat_reply, completion
from tests.support.proxy import running_proxy, settings_for
from tests.support.upstream import Reply, Request, ScriptedUpstream

ROOT = Path(__file__).parents[2]
NODE = ROOT / ".agents-node"
VENVS = ROOT / ".agents-venv"
MODEL = "lab-model"
KEY = "sk-lab-0000"
FULL = 250_000  # tokens; more than any agent's idea of an unknown model's context
LONGEST_RUN = 150.0  # seconds that an agent has; a start takes up to 20 on a small machine

Answer = tuple[Piece, ...]
JsonObject = dict[str, Any]


class _Body(msgspec.Struct):
    messages: list[msgspec.Raw]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the model got it. side: a title or the like, beside the conversation."""

    request: Request
    side: bool

    @property
    def body(self) -> JsonObject:
        return dict(self.request.json)

    @property
    def messages(self) -> list[JsonObject]:
        return list(self.body["messages"])

    @property
    def raw(self) -> list[bytes]:
        """The messages byte for byte."""
        decoded = msgspec.json.decode(self.request.body, type=_Body)
        return [bytes(message) for message in decoded.messages]

    def texts(self, role: str) -> list[str]:
        """What the messages of a role say, list content joined."""
        said = [m.get("content") for m in self.messages if m["role"] == role]
        return [joined(content) for content in said]


def joined(content: Any) -> str:
    """The text of a message's content, be it a string or a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def without_tools(body: JsonObject) -> bool:
    """What tells side requests of an agent that has tools."""
    return not body.get("tools")


@dataclass
class ScriptedModel:
    """Answers the conversation from a queue, and side requests with `title`.

    full_at: the answer (from 0) whose usage says that the context is full, so that the agent
    compacts it. aside: whether a body is a side request.
    """

    answers: deque[Answer]
    title: str = "A title"
    full_at: int | None = None
    aside: Callable[[JsonObject], bool] = without_tools
    asked: list[Asked] = field(default_factory=list)
    others: list[Request] = field(default_factory=list)
    scripted: int = 0

    def __post_init__(self) -> None:
        self.scripted = len(self.answers)

    def __call__(self, request: Request) -> Reply:
        if not request.path.endswith("/chat/completions"):
            self.others.append(request)
            return Reply(
                b'{"object":"list","data":[]}', headers=(("content-type", "application/json"),)
            )
        side = self.aside(request.json)
        self.asked.append(Asked(request, side))
        make = chat_reply if request.json.get("stream") else completion
        if side:
            return make(self.title, usage=usage(FULL))
        full = self.scripted - len(self.answers) == self.full_at
        return make(*self._next(), usage=usage(FULL if full else 9))

    def _next(self) -> Answer:
        return self.answers.popleft() if self.answers else ("Nothing more is scripted.",)


def usage(tokens: int) -> dict[str, int]:
    """Usage of an answer to a prompt of so many tokens."""
    return {"prompt_tokens": tokens, "completion_tokens": 9, "total_tokens": tokens + 9}


@dataclass(frozen=True, slots=True)
class Program:
    """How an agent is started."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """What is left of one run of an agent."""

    status: int
    output: str
    asked: tuple[Asked, ...]
    hits: tuple[JsonObject, ...]
    turns: tuple[JsonObject, ...]
    workspace: Path
    scripted: int
    unsaid: int

    @property
    def main(self) -> list[Asked]:
        """The requests of the conversation itself."""
        return [one for one in self.asked if not one.side]

    def file(self, name: str) -> str:
        return (self.workspace / name).read_text(encoding="utf-8")

    def actions(self) -> list[tuple[str, str]]:
        """What was done, in order: rule and action."""
        return [(hit["rule"], hit["action"]) for hit in self.hits]


@dataclass(frozen=True, slots=True)
class Bench:
    """Where an agent works: its repository, its home, and the base URL to give it."""

    workspace: Path
    home: Path
    url: str
    proxy_origin: str

    async def run(self, program: Program) -> tuple[int, str]:
        """Run the agent to its end, or to the longest time; its exit status and output."""
        process = await asyncio.create_subprocess_exec(
            *program.command,
            cwd=self.workspace,
            env=self._environment() | dict(program.environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(LONGEST_RUN):
                output, _ = await process.communicate(program.stdin.encode())
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode is not None
        return process.returncode, output.decode("utf-8", "replace")

    def _environment(self) -> dict[str, str]:
        nowhere = "http://127.0.0.1:9"
        return {
            "PATH": f"{Path(self.home, 'bin')}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "TMPDIR": str(self.home / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "CI": "1",
            "HTTP_PROXY": nowhere,
            "HTTPS_PROXY": nowhere,
            "NO_PROXY": "127.0.0.1,localhost",
            "DO_NOT_TRACK": "1",
        }


@contextlib.asynccontextmanager
async def bench_at(
    place: Path,
    model: Callable[[Request], Reply],
    rules: Mapping[str, str],
    *,
    elsewhere: bool = False,
) -> AsyncIterator[Bench]:
    """Run model and proxy over a new git repository below `place`.

    elsewhere: the proxy serves another directory, and must hear from the agent where it works.
    """
    workspace, home, other = place / "work", place / "home", place / "other"
    for folder in (workspace / "src", home / "tmp", other):
        folder.mkdir(parents=True)
    git = ["git", "-c", "user.name=Lab", "-c", "user.email=lab@localhost"]
    (workspace / "src" / "README").write_text("Sources.\n", encoding="utf-8")
    for step in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Start"]):
        await asyncio.to_thread(subprocess.run, [*git, *step], cwd=workspace, check=True)
    write_rules(workspace, **rules)
    async with ScriptedUpstream() as upstream:
        upstream.answer = model
        settings = settings_for(
            upstream,
            workspace=str(other if elsewhere else workspace),
            db=str(place / "ttsr.db"),
            ttsr={"builtinRules": False},
        )
        build = partial(assemble, home=place / "nobody", patience=PATIENT)
        async with running_proxy(settings, build) as proxy:
            yield Bench(workspace, home, proxy.url, proxy.origin)


async def run_of(bench: Bench, model: ScriptedModel, *programs: Program) -> Run:
    """Run programs one after the other and collect what is left, hits and turns oldest first."""
    statuses, outputs = [], []
    for program in programs:
        status, output = await bench.run(program)
        statuses.append(status)
        outputs.append(output)
    async with httpx.AsyncClient(base_url=bench.proxy_origin) as http:
        hits = (await http.get("/audit/hits?limit=1000")).json()["hits"]
        turns = (await http.get("/audit/turns?limit=1000")).json()["turns"]
    return Run(
        max(statuses),
        "\n".join(outputs),
        tuple(model.asked),
        tuple(reversed(hits)),
        tuple(reversed(turns)),
        bench.workspace,
        model.scripted,
        len(model.answers),
    )
