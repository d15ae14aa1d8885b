"""The `openai` package: plain and streamed requests and the `.stream()` helper, twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, get_args

import anyio.to_thread
import openai
from openai.types.chat import ChatCompletionChunk

from tests.support.clients.conversation import PATIENCE, TOOLS, Answer, Call, Conversation, Start

Kind = Literal["whole", "stream", "helper"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class OpenAiConversation(Conversation):
    """By `openai.OpenAI`, in a thread, as it blocks."""

    def __init__(self, url: str, kind: Kind) -> None:
        super().__init__(streams=kind != "whole")
        self._kind = kind
        self._sdk = openai.OpenAI(api_key="none", base_url=url, timeout=PATIENCE)

    def _asked(self) -> dict[str, Any]:
        asked = {"model": "m", "messages": self.messages, "tools": TOOLS}
        return asked if self._kind == "whole" else asked | _USAGE

    async def send(self) -> Answer:
        return await anyio.to_thread.run_sync(self._send)

    def _send(self) -> Answer:
        completions, asked = self._sdk.chat.completions, self._asked()
        if self._kind == "whole":
            return of_completion(completions.create(**asked))
        if self._kind == "stream":
            with completions.create(**asked, stream=True) as stream:
                return of_chunks(list(stream))
        with completions.stream(**asked) as running:
            for _ in running:
                pass
            return of_completion(running.get_final_completion())

    async def close(self) -> None:
        self._sdk.close()


class AsyncOpenAiConversation(Conversation):
    """By `openai.AsyncOpenAI`."""

    def __init__(self, url: str, kind: Kind) -> None:
        super().__init__(streams=kind != "whole")
        self._kind = kind
        self._sdk = openai.AsyncOpenAI(api_key="none", base_url=url, timeout=PATIENCE)

    async def send(self) -> Answer:
        completions = self._sdk.chat.completions
        asked: dict[str, Any] = {"model": "m", "messages": self.messages, "tools": TOOLS}
        if self._kind == "whole":
            return of_completion(await completions.create(**asked))
        asked |= _USAGE
        if self._kind == "stream":
            async with await completions.create(**asked, stream=True) as stream:
                return of_chunks([chunk async for chunk in stream])
        async with completions.stream(**asked) as running:
            async for _ in running:
                pass
            return of_completion(await running.get_final_completion())

    async def close(self) -> None:
        await self._sdk.close()


def of_completion(completion: Any) -> Answer:
    """A whole answer; the SDK's message object goes into the conversation as it is."""
    (choice,) = completion.choices
    message = choice.message
    calls = tuple(
        Call(call.id, call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or ()
    )
    tokens = completion.usage.total_tokens if completion.usage else None
    return Answer(message.content or "", calls, choice.finish_reason, tokens, message)


def of_chunks(chunks: Sequence[ChatCompletionChunk]) -> Answer:
    """A streamed answer, put together as applications do it by hand."""
    choices = [choice for chunk in chunks for choice in chunk.choices]
    text = "".join(choice.delta.content or "" for choice in choices)
    calls: dict[int, list[str]] = {}
    for piece in (piece for choice in choices for piece in choice.delta.tool_calls or ()):
        call = calls.setdefault(piece.index, ["", "", ""])
        said = piece.function
        for at, part in enumerate((piece.id, said and said.name, said and said.arguments)):
            call[at] += part or ""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for _, (id_, name, arguments) in sorted(calls.items())
        ]
    made = tuple(
        Call(id_, name, json.loads(arguments))
        for _, (id_, name, arguments) in sorted(calls.items())
    )
    (finish,) = [choice.finish_reason for choice in choices if choice.finish_reason]
    usages = [chunk.usage.total_tokens for chunk in chunks if chunk.usage]
    assert len(usages) <= 1, "usage came twice"
    return Answer(text, made, finish, usages[0] if usages else None, message)


_USAGE: dict[str, Any] = {"stream_options": {"include_usage": True}}

CONVERSATIONS: dict[str, Start] = {
    f"{name}-{kind}": partial(conversation, kind=kind)
    for name, conversation in {
        "openai": OpenAiConversation,
        "async-openai": AsyncOpenAiConversation,
    }.items()
    for kind in KINDS
}
