"""`openai-agents`: its loop asks, runs the tool and goes on by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agents import Agent, ModelSettings, RunConfig, Runner, function_tool
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent

from tests.support.clients.conversation import PATIENCE


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: the last text, every text delta shown, each response's token count."""

    text: str
    shown: str
    tokens: list[int]


@dataclass
class AgentsConversation:
    """One agent with one real tool; `ran` is what the tool was run with."""

    url: str
    streams: bool
    ran: list[tuple[str, str]] = field(default_factory=list)
    history: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        @function_tool
        def edit(path: str, new_string: str) -> str:
            """Edit a file."""
            self.ran.append((path, new_string))
            return "written"

        self._sdk = AsyncOpenAI(api_key="none", base_url=self.url, timeout=PATIENCE)
        self._agent = Agent(
            name="editor",
            model=OpenAIChatCompletionsModel("m", self._sdk),
            tools=[edit],
            model_settings=ModelSettings(include_usage=True),
        )

    async def ask(self, text: str) -> Outcome:
        """Say something and let the loop run until the model calls nothing more."""
        self.history.append({"role": "user", "content": text})
        config, shown = RunConfig(tracing_disabled=True), ""
        result: Any
        if self.streams:
            result = Runner.run_streamed(self._agent, self.history, run_config=config)
            async for event in result.stream_events():
                data = getattr(event, "data", None)
                shown += data.delta if isinstance(data, ResponseTextDeltaEvent) else ""
        else:
            result = await Runner.run(self._agent, self.history, run_config=config)
        self.history = result.to_input_list()
        tokens = [response.usage.total_tokens for response in result.raw_responses]
        return Outcome(str(result.final_output), shown, tokens)

    async def close(self) -> None:
        """Give connections back."""
        await self._sdk.close()
