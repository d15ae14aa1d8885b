"""`litellm`: `completion` and `acompletion`, whole and streamed.

It is imported when first used, as that takes seconds.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio.to_thread
import openai
import pytest

from tests.support.clients.conversation import PATIENCE, TOOLS, Answer, Conversation, Start
from tests.support.clients.openai_sdk import of_completion
from tests.support.leftovers import loggers_kept


def library() -> Any:
    """Import litellm, and leave loggers as they are.

    It would hide secrets in the lines of uvicorn, asyncio and httpx, so that a test would no
    longer see ours. Without the variable it fetches a price list from the network.
    """
    with loggers_kept(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm  # noqa: PLC0415 - see above

    return litellm


class LiteLlmConversation(Conversation):
    """By litellm's functions; streams are put together by its own builder."""

    def __init__(self, url: str, *, streams: bool, blocking: bool) -> None:
        super().__init__(streams=streams)
        self._blocking = blocking
        self._sdk = openai.OpenAI(api_key="none", base_url=url, timeout=PATIENCE)
        self._async_sdk = openai.AsyncOpenAI(api_key="none", base_url=url, timeout=PATIENCE)
        self._library = library()

    def _asked(self) -> dict[str, Any]:
        asked = {
            "model": "openai/m",
            "client": self._sdk if self._blocking else self._async_sdk,
            "messages": self.messages,
            "tools": TOOLS,
        }
        options = {"stream": True, "stream_options": {"include_usage": True}}
        return asked | options if self.streams else asked

    async def send(self) -> Answer:
        if self._blocking:
            return of_completion(await anyio.to_thread.run_sync(self._send))
        answer = await self._library.acompletion(**self._asked())
        if self.streams:
            answer = self._built([chunk async for chunk in answer])
        return of_completion(answer)

    def _send(self) -> Any:
        answer = self._library.completion(**self._asked())
        return self._built(list(answer)) if self.streams else answer

    def _built(self, chunks: list[Any]) -> Any:
        return self._library.stream_chunk_builder(chunks)

    async def close(self) -> None:
        self._sdk.close()
        await self._async_sdk.close()


CONVERSATIONS: dict[str, Start] = {
    "litellm-completion": partial(LiteLlmConversation, streams=False, blocking=True),
    "litellm-completion-stream": partial(LiteLlmConversation, streams=True, blocking=True),
    "litellm-acompletion": partial(LiteLlmConversation, streams=False, blocking=False),
    "litellm-acompletion-stream": partial(LiteLlmConversation, streams=True, blocking=False),
}
