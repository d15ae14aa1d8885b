"""OpenAI's Agents SDK: a hosted patch tool with one operation a call."""

from __future__ import annotations

from proxy.agents import Agent, Api, Marks, Setting
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily

AGENT = Agent(
    name="openai-agents",
    title="OpenAI's Agents SDK",
    marks=Marks(user_agent=(r"\bagents/python\b",)),
    families=(
        ToolFamily(
            ("apply_patch", "apply_patch_call"),
            ("edit", "apply_patch"),
            paths=("operation.path",),
            patches=(PatchArgument("operation.diff", PatchFormat.HUNKS),),
        ),
    ),
    apis=(Api.CHAT, Api.RESPONSES),
    settings=(
        Setting(
            "python",
            """\
from agents import OpenAIChatCompletionsModel
from openai import AsyncOpenAI

client = AsyncOpenAI(base_url="http://127.0.0.1:8787/v1")
model = OpenAIChatCompletionsModel(model="MODEL", openai_client=client)
""",
            where="In the program",
        ),
    ),
    limits=(
        (
            "Its default is the Responses API, which passes through without rules: take the model"
            " class above."
        ),
        (
            "It names no session to other hosts than OpenAI's: send `x-ttsr-session` and "
            "`x-ttsr-workspace` as `default_headers` of the client."
        ),
    ),
)
