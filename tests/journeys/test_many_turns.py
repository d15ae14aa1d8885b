"""More than a thousand turns, most of them left in the middle: nothing of them stays."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.agent import arguments, write_rules
from tests.support.chat import Tool, chat, chat_reply, completion
from tests.support.proxy import until
from tests.support.rules import rule_text
from tests.support.upstream import Reply, Request, ScriptedUpstream, document
from tests.support.wire import call, calling

pytestmark = pytest.mark.anyio

CHAT = "/v1/chat/completions"
WARM = 200
TURNS = 1000
AT_ONCE = 20
LISTENING_AND_IDLE = 2  # sockets: the server's, and the pool's to the upstream

LONG = "word " * 400
KINDS: dict[str, Callable[[], Reply]] = {
    "complete": lambda: chat_reply("fine ", LONG, "done"),
    "interrupted": lambda: chat_reply("A ", LONG, "FORBIDDEN"),
    "refused": lambda: chat_reply(Tool("edit", arguments("a.ts", "the end"), "c1")),
    "document": lambda: completion("A FORBIDDEN " + LONG),
    "left before the head": lambda: Reply(chat(LONG), gates={-1: asyncio.Event()}),
    "left in mid-stream": lambda: Reply(chat(LONG, "more"), gates={2300: asyncio.Event()}),
    "left between attempts": lambda: chat_reply("A ", LONG, "FORBIDDEN"),
    "left document": lambda: Reply(completion(LONG).body, headers=(), gates={99: asyncio.Event()}),
}


def answer(request: Request) -> Reply:
    """What the request's model names; a reissued request gets a fine answer, or none yet."""
    if request.method == "GET":
        return document({})
    body = request.json
    if len(body["messages"]) == 1:
        return KINDS[body["model"]]()
    if body["model"] == "left between attempts":
        return Reply(chat("never"), gates={-1: asyncio.Event()})
    return chat_reply("Better.") if body["stream"] else completion("Better.")


async def turn(port: int, kind: str, number: int) -> None:
    message = {"role": "user", "content": f"turn {number}"}
    tool = {"type": "function", "function": {"name": "edit", "parameters": {"type": "object"}}}
    body: dict[str, Any] = {"model": kind, "messages": [message], "tools": [tool]}
    body["stream"] = "document" not in kind
    async with calling(port) as caller:
        await caller.send("POST", CHAT, body=json.dumps(body).encode())
        if not kind.startswith("left"):
            got = await caller.answer()
            assert (got.status, got.ending) == (200, "clean"), got
            assert (b"[DONE]" in got.body) is body["stream"]
        elif kind in {"left in mid-stream", "left between attempts"}:
            await caller.head()
            await anext(caller.body())
        else:
            await asyncio.sleep(0.01)  # somewhere on its way


async def many(port: int, numbers: range) -> None:
    waiting = iter(zip(numbers, itertools.cycle(KINDS), strict=False))

    async def worker() -> None:
        for number, kind in waiting:
            await turn(port, kind, number)

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))


@asynccontextmanager
async def served(upstream: ScriptedUpstream, folder: Path) -> AsyncIterator[tuple[int, int]]:
    """Run the command in a process of its own; its port and process id."""
    options = ["--upstream", upstream.url, "--port", "0", "--workspace", str(folder),
               "--db", str(folder / "ttsr.db"), "--no-builtin-rules"]  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "from proxy.cli import main; main()", "serve", *options,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env={"HOME": str(folder), "PATH": ""},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/v1", line)
        assert found, line
        yield int(found[1]), process.pid
    finally:
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 30) == 0


async def test_a_thousand_turns_leave_neither_sockets_nor_memory(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The process has as many descriptors and threads as before, and at most 5 % more memory."""
    write_rules(
        tmp_path,
        foo=rule_text("Say it kindly.", condition="FORBIDDEN"),
        bar=rule_text("Say more.", condition="end$", scope="tool:edit"),
    )
    upstream.answer = answer
    async with served(upstream, tmp_path) as (port, pid):
        process = psutil.Process(pid)

        async def few_sockets() -> bool:
            return len(process.net_connections("tcp")) <= LISTENING_AND_IDLE

        async def at_rest() -> tuple[int, int, int]:
            # A request clears the pool of what the upstream has closed meanwhile.
            await upstream.drop_connections()
            await call(port, "GET", "/v1/models")
            await until(few_sockets)
            return process.num_fds(), process.num_threads(), process.memory_info().rss

        await many(port, range(WARM))
        fds, threads, memory = await at_rest()
        await many(port, range(WARM, TURNS + WARM))
        after = await at_rest()
    assert after[:2] == (fds, threads)
    assert after[2] <= memory * 1.05, f"{memory} grew to {after[2]}"
    assert len({exchange.request.body for exchange in upstream.exchanges}) > TURNS
