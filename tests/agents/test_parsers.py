"""What the parsers of agents make of streams that the proxy continues.

Every parser is put to every stream; what an application is told must be the same everywhere.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.agents.lab import KEY, LONGEST_RUN, NODE, Answer, Bench, Program, bench_at, joined, usage
from tests.support.agent import arguments
from tests.support.chat import Thinking, Tool, chat_reply
from tests.support.clients import langchain, lite_llm, openai_sdk
from tests.support.clients.agents_sdk import AgentsConversation
from tests.support.clients.conversation import Start
from tests.support.rules import rule_text
from tests.support.upstream import Reply, Request, document

pytestmark = [
    pytest.mark.timeout(2 * LONGEST_RUN),
    # what pydantic remarks on litellm's own types while it reads a stream
    pytest.mark.filterwarnings("ignore:Item '.*' on TypedDict class:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_.*' attribute on:DeprecationWarning"),
]

APP = Path(__file__).with_name("parsers.mjs")
RULES = {
    "kind": rule_text("Say it kindly.", condition="FORBIDDEN"),
    "think": rule_text("Think kindly.", condition="SCHEME", scope="thinking"),
    # Only the end of the finished argument can decide it, so it is refused and never cut.
    "more": rule_text("Say more.", condition="end$", scope="tool:edit"),
}
FAILURE = document({"error": {"message": "over quota", "type": "quota", "code": "q"}}, 403)
FAILED = "over quota"
WITHHELD = "(which call was withheld)"


def edit(new: str, letter: str = "a", index: int = 0) -> Tool:
    return Tool("edit", arguments("a.ts", new), f"call_Hq7ZkTw{letter}", index)


def bash(letter: str = "b", index: int = 0) -> Tool:
    return Tool("bash", json.dumps({"command": "ls"}), f"call_Hq7ZkTw{letter}", index)


GOOD = (edit("fine", "c"), edit("fine too", "d", 1))
REFUSED = edit("the end")


@dataclass(frozen=True, slots=True)
class Stream:
    """One client stream: the attempts it is made of, and what an application must be told.

    fails: the reissue is answered with an error. breaks: its answer ends within the first call.
    """

    attempts: tuple[Answer, ...]
    text: str
    calls: tuple[Tool, ...] = ()
    reasoning: str = ""
    fails: bool = False
    breaks: bool = False

    @property
    def finish(self) -> str:
        return "tool_calls" if self.calls else "stop"


STREAMS = {
    "text interrupt": Stream(
        (("FORB", "IDDEN", " more"), ("Better.", *GOOD)),
        text="Better.",
        calls=GOOD,
    ),
    "text interrupt, text before": Stream(
        (("All clear. ", "FORB", "IDDEN", " more"), ("Better.",)),
        text="All clear. \n\nBetter.",
    ),
    "thinking interrupt": Stream(
        ((Thinking("I plan. "), Thinking("SCHEME")), (Thinking("I care."), "Better.")),
        text="Better.",
        reasoning="I plan. I care.",
    ),
    "thinking interrupt, text before": Stream(
        (("All clear. ", Thinking("SCHEME")), (Thinking("I care."), "Better.", *GOOD)),
        text="All clear. \n\nBetter.",
        calls=GOOD,
    ),
    "tool interrupt": Stream(
        ((edit("FORBIDDEN"),), GOOD),
        text="",
        calls=GOOD,
    ),
    "tool interrupt, text before": Stream(
        (("I edit. ", bash(), edit("FORBIDDEN", "a", 1)), ("I edit anew.", *GOOD)),
        text="I edit. \n\nI edit anew.",
        calls=GOOD,
    ),
    "refusal": Stream(
        ((REFUSED, bash("b", 1)), GOOD),
        text="",
        calls=GOOD,
    ),
    "refusal, text before": Stream(
        (("I edit. ", REFUSED), ("I edit anew.", *GOOD)),
        text="I edit. \n\nI edit anew.",
        calls=GOOD,
    ),
    "interrupts and a refusal, text before each": Stream(
        (
            ("One. ", "FORBIDDEN"),
            ("Two. ", edit("FORBIDDEN")),
            ("Three. ", REFUSED),
            ("Four.", *GOOD),
        ),
        text="One. \n\nTwo. \n\nThree. \n\nFour.",
        calls=GOOD,
    ),
    "exhaustion": Stream(
        ((REFUSED,),) * 4,
        text=WITHHELD,
    ),
    "exhaustion, text before": Stream(
        (("I edit. ", REFUSED),) + ((REFUSED,),) * 3,
        text=f"I edit. \n\n{WITHHELD}",
    ),
    "reissue failed": Stream(
        (("FORBIDDEN",),),
        text="",
        fails=True,
    ),
    "reissue failed, text before": Stream(
        (("All clear. ", "FORBIDDEN"),),
        text="All clear. ",
        fails=True,
    ),
    "reissue broken": Stream(
        (("FORBIDDEN",), GOOD),
        text="",
        breaks=True,
    ),
    "reissue broken, text before": Stream(
        (("All clear. ", "FORBIDDEN"), ("Better.", *GOOD)),
        text="All clear. \n\nBetter.",
        breaks=True,
    ),
}
ANSWERED = [name for name, stream in STREAMS.items() if not (stream.fails or stream.breaks)]

ON_NODE = ("openai-node", "openai-node-helper", "ai-sdk", "continue")
# The helper keeps the last delta of a field that it does not know.
TELLS_REASONING = ("openai-node", "ai-sdk", "continue")
IN_PYTHON: Mapping[str, Start] = {
    name: (openai_sdk.CONVERSATIONS | lite_llm.CONVERSATIONS | langchain.CONVERSATIONS)[name]
    for name in (
        "async-openai-stream",
        "async-openai-helper",
        "litellm-acompletion-stream",
        "langchain-astream",
    )
}
AGENTS_SDK = "openai-agents"
PARSERS = (*ON_NODE, *IN_PYTHON, AGENTS_SDK)
# How an application is told that a stream has failed: kind and code.
ERRORS = dict.fromkeys(PARSERS, ("APIError", "reissue_failed")) | {
    "ai-sdk": ("error part", "reissue_failed"),
    "continue": ("Error", None),
    "litellm-acompletion-stream": ("MidStreamFallbackError", None),
}
# The same for a connection that was lost.
BREAKS = dict.fromkeys(PARSERS, "APIConnectionError") | {
    "openai-node": "TypeError",
    "openai-node-helper": "OpenAIError",
    "ai-sdk": "APICallError",
    "continue": "Error",
    "litellm-acompletion-stream": "MidStreamFallbackError",
    "langchain-astream": "OpenAIConnectionError",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """How a parser tells that the stream failed: exception or part, its text, its code."""

    kind: str
    message: str
    code: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """What an application was told of one stream; None: this parser does not say.

    calls: id, name and arguments.
    """

    text: str | None = None
    calls: tuple[tuple[str, str, Any], ...] | None = None
    finish: str | None = None
    tokens: int | None = None
    reasoning: str | None = None
    error: Failure | None = None


@dataclass
class Model:
    """Plays the stream that the user names, its attempts in order, then ends the conversation."""

    asked: Counter[str] = field(default_factory=Counter)

    def __call__(self, request: Request) -> Reply:
        said = joined(request.json["messages"][0]["content"]).partition("\n")[0]
        stream, number = STREAMS[said.partition(" by ")[0]], self.asked[said]
        self.asked[said] += 1
        if number < len(stream.attempts):
            reply = chat_reply(*stream.attempts[number], usage=usage(number))
            return broken(reply) if number and stream.breaks else reply
        return FAILURE if stream.fails else chat_reply("Done.", usage=usage(number))


def broken(reply: Reply) -> Reply:
    """The same answer up to the event that opens its first call."""
    body = reply.body
    end = body.index(b"\n\n", body.index(GOOD[0].id.encode())) + 2
    return replace(reply, body=body[:end], splits=(), terminate="abort")


async def on_node(bench: Bench, parser: str, words: Iterable[str]) -> list[Told]:
    """Start Node once for all streams of a parser."""
    command = ("node", str(bench.home / APP.name), bench.url, parser, *words)
    status, output = await bench.run(Program(command, {"LAB_KEY": KEY}))
    assert status == 0, output
    lines = [json.loads(line) for line in output.splitlines() if line.startswith('{"text"')]
    return [_of_line(line) for line in lines]


def _of_line(line: dict[str, Any]) -> Told:
    error = line["error"]
    return Told(
        line["text"],
        tuple((c["id"], c["name"], json.loads(c["arguments"])) for c in line["calls"]),
        line["finish"],
        line["tokens"],
        line["reasoning"],
        Failure(error["kind"], error["message"], error.get("code")) if error else None,
    )


async def in_python(start: Start, url: str, said: str) -> Told:
    """A conversation of one answer."""
    conversation = start(url)
    try:
        answer = await conversation.ask(said)
    finally:
        await conversation.close()
    calls = tuple((call.id, call.name, call.arguments) for call in answer.calls)
    return Told(answer.text, calls, answer.finish, answer.tokens)


async def by_agents_sdk(url: str, said: str) -> Told:
    """Its loop goes on behind the calls; what it keeps of the first answer is looked at."""
    conversation = AgentsConversation(url, streams=True)
    try:
        outcome = await conversation.ask(said)
    finally:
        await conversation.close()
    answer = [item for item in conversation.history if "output" not in item]
    calls = [item for item in answer if item.get("type") == "function_call"]
    return Told(
        outcome.shown.removesuffix("Done.") if calls else outcome.shown,
        tuple((c["call_id"], c["name"], json.loads(c["arguments"])) for c in calls),
        tokens=outcome.tokens[0],
    )


async def caught(telling: Awaitable[Told]) -> Told:
    """What it raises is what it tells."""
    try:
        return await telling
    except openai.APIError as error:
        return Told(error=Failure(type(error).__name__, str(error), error.code))


async def tell_all(place: Path) -> dict[tuple[str, str], Told]:
    """Put every parser to every stream through one proxy; each pair is its own conversation."""
    model = Model()
    told: dict[tuple[str, str], Told] = {}
    async with bench_at(place, model, RULES) as bench:
        shutil.copy(APP, bench.home)
        (bench.home / "node_modules").symlink_to(NODE / "node_modules")
        for parser in ON_NODE:
            words = [f"{stream} by {parser}" for stream in STREAMS]
            told |= zip(
                product(STREAMS, [parser]), await on_node(bench, parser, words), strict=True
            )
        for stream in STREAMS:
            for parser, start in IN_PYTHON.items():
                said = f"{stream} by {parser}"
                told[stream, parser] = await caught(in_python(start, bench.url, said))
            said = f"{stream} by {AGENTS_SDK}"
            told[stream, AGENTS_SDK] = await caught(by_agents_sdk(bench.url, said))
    for name, parser in told:
        played = STREAMS[name]
        more = played.fails or (parser == AGENTS_SDK and bool(played.calls))
        assert model.asked[f"{name} by {parser}"] == len(played.attempts) + more
    return {pair: named(heard) for pair, heard in told.items()}


def named(heard: Told) -> Told:
    """Put a short word in the place of the sentence that says which call was withheld."""
    if heard.text is None:
        return heard
    sentence = r"The call `edit` on `a\.ts` was withheld .*rule `more`.*"
    return replace(heard, text=re.sub(sentence, WITHHELD, heard.text))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Told]:
    return asyncio.run(tell_all(tmp_path_factory.mktemp("parsers")))


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("name", ANSWERED)
def test_parser_tells_one_clean_answer(
    told: dict[tuple[str, str], Told], name: str, parser: str
) -> None:
    """Text, calls, one finish reason and the last attempt's usage, as if there had been one."""
    stream, heard = STREAMS[name], told[name, parser]
    assert heard == Told(
        stream.text,
        tuple((call.id, call.name, json.loads(call.arguments)) for call in stream.calls),
        None if parser == AGENTS_SDK else stream.finish,
        usage(len(stream.attempts) - 1)["total_tokens"],
        stream.reasoning if parser in TELLS_REASONING else None,
    )


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("name", [name for name, stream in STREAMS.items() if stream.fails])
def test_parser_tells_that_the_stream_failed(
    told: dict[tuple[str, str], Told], name: str, parser: str
) -> None:
    """Each in its own way, with what the upstream said, and with no call or finish reason."""
    stream, heard = STREAMS[name], told[name, parser]
    assert heard.error is not None
    assert (heard.error.kind, heard.error.code) == ERRORS[parser]
    assert FAILED in heard.error.message
    assert heard.finish == ("error" if parser == "ai-sdk" else None)
    if parser in ON_NODE:
        assert (heard.text, heard.calls) == (stream.text, ())


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("name", [name for name, stream in STREAMS.items() if stream.breaks])
def test_parser_tells_that_the_stream_broke_off(
    told: dict[tuple[str, str], Told], name: str, parser: str
) -> None:
    """As if the upstream had broken off under the parser itself; no part of a call is shown."""
    stream, heard = STREAMS[name], told[name, parser]
    assert heard.error is not None
    assert heard.error.kind == BREAKS[parser]
    assert heard.finish is None
    if parser in ON_NODE:
        assert (heard.text, heard.calls) == (stream.text, ())
