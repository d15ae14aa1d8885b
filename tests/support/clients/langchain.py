"""`langchain-openai`: `ChatOpenAI` with bound tools, invoked and streamed."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio.to_thread
import httpx2
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.support.clients.conversation import PATIENCE, TOOLS, Answer, Call, Conversation, Start


class LangChainConversation(Conversation):
    """By `ChatOpenAI`; its own message objects are the history."""

    def __init__(self, url: str, *, streams: bool, blocking: bool) -> None:
        super().__init__(streams=streams)
        self._blocking = blocking
        self._http = httpx2.Client(timeout=PATIENCE)
        self._async_http = httpx2.AsyncClient(timeout=PATIENCE)
        self._model = ChatOpenAI(
            model="m",
            api_key=SecretStr("none"),
            base_url=url,
            http_client=self._http,
            http_async_client=self._async_http,
            stream_usage=True,
        ).bind_tools(TOOLS)

    async def send(self) -> Answer:
        if self._blocking:
            return _of_message(await anyio.to_thread.run_sync(self._send))
        if not self.streams:
            return _of_message(await self._model.ainvoke(self.messages))
        return _of_message(_sum([piece async for piece in self._model.astream(self.messages)]))

    def _send(self) -> Any:
        if self.streams:
            return _sum(list(self._model.stream(self.messages)))
        return self._model.invoke(self.messages)

    async def close(self) -> None:
        self._http.close()
        await self._async_http.aclose()


def _sum(pieces: list[Any]) -> AIMessage:
    """The pieces added up, as an agent loop keeps them."""
    total = AIMessageChunk(content="")
    for piece in pieces:
        total = total + piece
    return total


def _of_message(message: AIMessage) -> Answer:
    assert message.invalid_tool_calls == []
    calls = tuple(Call(call["id"] or "", call["name"], call["args"]) for call in message.tool_calls)
    usage = message.usage_metadata
    return Answer(
        str(message.content),
        calls,
        message.response_metadata.get("finish_reason"),
        usage["total_tokens"] if usage else None,
        message,
    )


CONVERSATIONS: dict[str, Start] = {
    "langchain-invoke": partial(LangChainConversation, streams=False, blocking=True),
    "langchain-stream": partial(LangChainConversation, streams=True, blocking=True),
    "langchain-ainvoke": partial(LangChainConversation, streams=False, blocking=False),
    "langchain-astream": partial(LangChainConversation, streams=True, blocking=False),
}
