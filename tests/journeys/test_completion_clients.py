"""What real client libraries make of plain completions that were interrupted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx
import openai
import pytest

from tests.support.agent import Agent, agent_at, write_rules
from tests.support.clients import lite_llm
from tests.support.completions import text_document, text_reply
from tests.support.rules import rule_text
from tests.support.upstream import Reply, ScriptedUpstream, document

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.clients,
    # what pydantic remarks on litellm's own types while it reads a stream
    pytest.mark.filterwarnings("ignore:Item '.*' on TypedDict class:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_.*' attribute on:DeprecationWarning"),
]

USAGE = {"prompt_tokens": 2, "completion_tokens": 10, "total_tokens": 12}
OVER_QUOTA = document({"error": {"message": "over quota", "type": "quota", "code": "q"}}, 403)
PATIENCE = 20.0
ASKED: dict[str, Any] = {"model": "m", "prompt": "go", "max_tokens": 50}
STREAMED = {"stream": True, "stream_options": {"include_usage": True}}


@dataclass(frozen=True, slots=True)
class Got:
    """What the application has in the end."""

    text: str
    finish: str | None
    tokens: int | None


def of_whole(completion: Any) -> Got:
    (choice,) = completion.choices
    return Got(choice.text, choice.finish_reason, completion.usage.total_tokens)


def of_chunks(chunks: list[Any]) -> Got:
    choices = [choice for chunk in chunks for choice in chunk.choices]
    reasons = [choice.finish_reason for choice in choices if choice.finish_reason]
    tokens = [chunk.usage.total_tokens for chunk in chunks if getattr(chunk, "usage", None)]
    assert len({chunk.id for chunk in chunks}) == 1
    assert len(reasons) == 1
    return Got(
        "".join(choice.text or "" for choice in choices),
        reasons[0],
        tokens[-1] if tokens else None,
    )


async def openai_whole(url: str) -> Got:
    async with openai.AsyncOpenAI(api_key="none", base_url=url, timeout=PATIENCE) as sdk:
        return of_whole(await sdk.completions.create(**ASKED))


async def openai_stream(url: str) -> Got:
    async with (
        openai.AsyncOpenAI(api_key="none", base_url=url, timeout=PATIENCE) as sdk,
        await sdk.completions.create(**ASKED, **STREAMED) as stream,
    ):
        return of_chunks([chunk async for chunk in stream])


def _blocking(url: str) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=url, timeout=PATIENCE)


async def openai_blocking_stream(url: str) -> Got:
    def run() -> Got:
        with _blocking(url) as sdk, sdk.completions.create(**ASKED, **STREAMED) as stream:
            return of_chunks(list(stream))

    return await anyio.to_thread.run_sync(run)


def _by_litellm(url: str, taken: Callable[[Any], Got], **more: Any) -> Got:
    with _blocking(url) as sdk:
        asked = ASKED | {"model": "text-completion-openai/m", "client": sdk}
        return taken(lite_llm.library().text_completion(**asked, **more))


async def litellm_whole(url: str) -> Got:
    return await anyio.to_thread.run_sync(lambda: _by_litellm(url, of_whole))


async def litellm_stream(url: str) -> Got:
    def run() -> Got:
        return _by_litellm(url, lambda stream: of_chunks(list(stream)), **STREAMED)

    return await anyio.to_thread.run_sync(run)


async def editor_stream(url: str) -> Got:
    """By lines, as editors' extensions read it: what is behind `data:`, its first choice's text."""
    text, finish, tokens = "", None, None
    async with (
        httpx.AsyncClient(timeout=PATIENCE) as http,
        http.stream("POST", f"{url}/completions", json=ASKED | STREAMED) as answer,
    ):
        async for line in answer.aiter_lines():
            if not line.startswith("data:") or line.endswith("[DONE]"):
                continue
            chunk = json.loads(line[5:])
            if "error" in chunk:
                raise openai.APIError(chunk["error"]["message"], answer.request, body=chunk)
            choice = next(iter(chunk["choices"]), {})
            text += choice.get("text") or ""
            finish = choice.get("finish_reason") or finish
            tokens = (chunk.get("usage") or {}).get("total_tokens", tokens)
    return Got(text, finish, tokens)


Ask = Callable[[str], Awaitable[Got]]
WHOLE: list[Ask] = [openai_whole, litellm_whole]
STREAMS: list[Ask] = [openai_stream, openai_blocking_stream, litellm_stream, editor_stream]


def names(value: Any) -> str:
    return str(value.__name__)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def agent(upstream: ScriptedUpstream, tmp_path: Path) -> AsyncIterator[Agent]:
    write_rules(tmp_path, foo=rule_text("Say it kindly.", condition="FORBIDDEN"))
    async with agent_at(upstream, tmp_path) as agent:
        yield agent


def replies(ask: Ask) -> tuple[Reply, Reply]:
    """A violation and a clean answer, in the form that the client asks for."""
    if ask in WHOLE:
        return text_document("All clear. FORBIDDEN"), text_document("Better.", usage=USAGE)
    violation = text_reply("All clear. ", "FORB", "IDDEN", " more")
    return violation, text_reply("Better.", usage=USAGE, letter="b")


@pytest.mark.parametrize("ask", [*WHOLE, *STREAMS], ids=names)
async def test_interrupted_completion_reads_as_one(
    upstream: ScriptedUpstream, agent: Agent, ask: Ask
) -> None:
    """No letter of the violation, one finish reason, the last attempt's usage, no exception."""
    upstream.script(*replies(ask))
    shown = "" if ask in WHOLE else "All clear. \n\n"
    assert await ask(agent.proxy.url) == Got(f"{shown}Better.", "stop", 12)
    assert len(upstream.requests) == 2
    assert upstream.requests[1].json["prompt"].startswith("goAll clear. FORBIDDEN\n\n<system-")


@pytest.mark.parametrize("ask", STREAMS, ids=names)
async def test_three_cuts_in_a_row_read_as_one(
    upstream: ScriptedUpstream, agent: Agent, ask: Ask
) -> None:
    """However often the answer was begun anew."""
    cut = [text_reply(f"{letter} ", "FORBIDDEN", letter=letter) for letter in "abc"]
    upstream.script(*cut, text_reply("d", usage=USAGE, letter="d"))
    assert await ask(agent.proxy.url) == Got("a \n\nb \n\nc \n\nd", "stop", 12)


@pytest.mark.parametrize("ask", [*WHOLE, *STREAMS], ids=names)
async def test_failed_reissue_raises_what_the_library_documents(
    upstream: ScriptedUpstream, agent: Agent, ask: Ask
) -> None:
    """The application learns that there is no answer, and why."""
    upstream.script(replies(ask)[0], OVER_QUOTA)
    with pytest.raises(openai.APIError, match="over quota"):
        await ask(agent.proxy.url)
    assert len(upstream.requests) == 2
