"""A conversation as a client library holds it, in one shape for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

JsonObject = dict[str, Any]

PATIENCE = 20.0
"""Seconds after which a request counts as hanging."""


def _tool(name: str, *fields: str) -> JsonObject:
    schema = {
        "type": "object",
        "properties": {field: {"type": "string"} for field in fields},
        "required": list(fields),
        "additionalProperties": False,
    }
    function = {"name": name, "description": name, "strict": True, "parameters": schema}
    return {"type": "function", "function": function}


TOOLS = (_tool("edit", "path", "new_string"), _tool("bash", "command"))


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the library hands it to the application, its arguments parsed."""

    id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Answer:
    """What the application sees. `message`: what it puts into its conversation."""

    text: str
    calls: tuple[Call, ...]
    finish: str | None
    tokens: int | None
    message: Any


class Conversation(ABC):
    """The whole history goes out with every request, the library's own messages included."""

    def __init__(self, *, streams: bool) -> None:
        self.streams = streams
        self.messages: list[Any] = []
        self._calls: Sequence[Call] = ()

    async def ask(self, text: str) -> Answer:
        """Say something and take the answer into the conversation."""
        self.messages.append({"role": "user", "content": text})
        return await self.go()

    async def results(self, *contents: str) -> Answer:
        """Answer every call of the last message, then go on."""
        for call, content in zip(self._calls, contents, strict=True):
            result = {"role": "tool", "tool_call_id": call.id, "content": content}
            self.messages.append(result)
        return await self.go()

    async def go(self) -> Answer:
        """Send the conversation as it is."""
        answer = await self.send()
        self._calls = answer.calls
        self.messages.append(answer.message)
        return answer

    @abstractmethod
    async def send(self) -> Answer:
        """One request by the library's means; what it raises is not caught."""

    async def close(self) -> None:  # noqa: B027 - not every library has something to close
        """Give connections back."""


Start = Callable[[str], Conversation]
"""Begins a conversation at a base URL."""
