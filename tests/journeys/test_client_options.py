"""What the `openai` package's own options ask of an interrupted answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from tests.support.agent import arguments, sent
from tests.support.chat import Tool, chat, chat_reply, completion
from tests.support.clients.conversation import PATIENCE, TOOLS
from tests.support.clients.place import Place, open_place
from tests.support.upstream import Reply, document

pytestmark = [pytest.mark.anyio, pytest.mark.clients]

FORM: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
FORCED: dict[str, Any] = FORM | {"tools": TOOLS, "tool_choice": "required"}
BAD = Tool("edit", arguments("a.ts", "the end"))
WITHHELD = r"`edit` on `a\.ts`"


class Verdict(BaseModel):
    """What the application wants parsed."""

    verdict: str


@pytest.fixture
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    async with open_place(tmp_path_factory.mktemp("clients")) as place:
        yield place


@pytest.fixture
async def sdk(place: Place) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key="none", base_url=place.url, timeout=PATIENCE) as sdk:
        yield sdk


async def test_parsed_stream_holds_only_the_clean_document(
    place: Place, sdk: openai.AsyncOpenAI
) -> None:
    """A JSON answer is not continued: the application parses the second attempt alone."""
    place.upstream.script(
        chat_reply('{"verdict":', ' "FORB', 'IDDEN"}'), chat_reply('{"verdict":', ' "fine"}')
    )
    asked: dict[str, Any] = FORM | {"response_format": Verdict}
    async with sdk.chat.completions.stream(**asked) as running:
        pieces = [event.delta async for event in running if event.type == "content.delta"]
        message = (await running.get_final_completion()).choices[0].message
    assert "".join(pieces) == '{"verdict": "fine"}'
    assert message.parsed == Verdict(verdict="fine")
    assert sent(place.upstream)[1]["content"].startswith('{"verdict": "FORBIDDEN')


async def test_parsed_whole_answer_is_the_clean_document(
    place: Place, sdk: openai.AsyncOpenAI
) -> None:
    """`parse` gets the second attempt's object."""
    place.upstream.script(completion('{"verdict": "FORBIDDEN"}'), completion('{"verdict": "fine"}'))
    asked: dict[str, Any] = FORM | {"response_format": Verdict}
    answer = await sdk.chat.completions.parse(**asked)
    assert answer.choices[0].message.parsed == Verdict(verdict="fine")


async def test_forced_call_that_stays_withheld_breaks_the_stream(
    place: Place, sdk: openai.AsyncOpenAI
) -> None:
    """An application that forces a tool has no use for a message without calls."""
    place.upstream.script(*[chat_reply(BAD)] * 4)
    stream: Any = await sdk.chat.completions.create(**FORCED, stream=True)
    chunks: list[Any] = []
    with pytest.raises(openai.APIError, match=WITHHELD) as raised:
        await take(stream, chunks)
    assert raised.value.code == "rule_exhausted"
    assert not any(choice.delta.tool_calls for chunk in chunks for choice in chunk.choices)


async def test_forced_call_that_stays_withheld_is_a_status_that_is_not_retried(
    place: Place, sdk: openai.AsyncOpenAI
) -> None:
    """A whole answer fails with a status; an SDK that retried would spend all attempts again."""
    place.upstream.script(*[completion(BAD)] * 4)
    with pytest.raises(openai.UnprocessableEntityError, match=WITHHELD) as raised:
        await sdk.chat.completions.create(**FORCED)
    assert raised.value.code == "rule_exhausted"
    assert len(place.upstream.exchanges) == 4


async def take(stream: Any, chunks: list[Any]) -> None:
    """Keep what comes, up to what is raised."""
    async for chunk in stream:
        chunks.append(chunk)  # noqa: PERF401 - what came before the error is kept


async def test_application_that_closes_the_stream_ends_the_reissued_attempt(
    place: Place, sdk: openai.AsyncOpenAI
) -> None:
    """Leaving a stream of the SDK early closes what the proxy has open upstream."""
    body = chat("Better.", " Much better.")
    gated = Reply(body, gates={len(body) - 20: asyncio.Event()})
    place.upstream.script(chat_reply("All clear. ", "FORBIDDEN"), gated)
    asked: dict[str, Any] = FORM | {"stream": True}
    async with await sdk.chat.completions.create(**asked) as stream:
        async for chunk in stream:
            if "Better" in (chunk.choices[0].delta.content or ""):
                break
    exchange = await place.upstream.exchange(1)
    await asyncio.wait_for(exchange.closed.wait(), 5)


async def test_several_choices_pass_as_they_are(place: Place, sdk: openai.AsyncOpenAI) -> None:
    """With n > 1 nothing is cut: the application gets every choice that the upstream sent."""
    choices = [
        {"index": n, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for n, text in enumerate(("FORBIDDEN", "fine"))
    ]
    answer = document({"id": "x", "object": "chat.completion", "created": 1, "choices": choices})
    place.upstream.script(answer)
    raw = await sdk.chat.completions.with_raw_response.create(**FORM, n=2)
    assert raw.content == answer.body
    assert len(place.upstream.exchanges) == 1
