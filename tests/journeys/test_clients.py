"""What real client libraries make of interrupts, refusals, reminders and failures.

One proxy serves all tests of this file, so every conversation has words of its own.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import httpx2
import openai
import pytest

from tests.support.agent import arguments, sent
from tests.support.chat import Piece, Tool, chat_reply, completion
from tests.support.clients import langchain, lite_llm, openai_sdk
from tests.support.clients.agents_sdk import AgentsConversation
from tests.support.clients.conversation import Answer, Conversation, JsonObject, Start
from tests.support.clients.place import Place, open_place
from tests.support.upstream import Reply, document

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.clients,
    # what pydantic remarks on litellm's own types while it reads a stream
    pytest.mark.filterwarnings("ignore:Item '.*' on TypedDict class:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_.*' attribute on:DeprecationWarning"),
]

LIBRARIES: dict[str, Start] = (
    openai_sdk.CONVERSATIONS | langchain.CONVERSATIONS | lite_llm.CONVERSATIONS
)
SDK = tuple(openai_sdk.CONVERSATIONS)

OVER_QUOTA = document({"error": {"message": "over quota", "type": "quota", "code": "q"}}, 403)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def shared_place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    """One server for the file: libraries are slow enough."""
    async with open_place(tmp_path_factory.mktemp("clients")) as place:
        yield place


@pytest.fixture
def place(shared_place: Place) -> Iterator[Place]:
    """The place as new; afterwards every scripted answer must have been asked for."""
    upstream = shared_place.upstream
    upstream.exchanges.clear()
    yield shared_place
    left = len(upstream._queue)
    upstream._queue.clear()
    assert not left, f"{left} scripted answers were not asked for"


@pytest.fixture
def topic(place: Place) -> str:
    """A word for this test's conversation alone."""
    return next(place.topics)


@pytest.fixture(scope="module", params=list(LIBRARIES))
async def library(
    request: pytest.FixtureRequest, shared_place: Place
) -> AsyncIterator[Conversation]:
    """Each library in each of its ways, its connections kept from test to test."""
    conversation = LIBRARIES[request.param](shared_place.url)
    yield conversation
    await conversation.close()


@pytest.fixture
def talk(library: Conversation, place: Place) -> Conversation:  # noqa: ARG001 - it is reset
    """A new conversation."""
    library.messages = []
    return library


@pytest.fixture(params=[True, False], ids=["streamed", "whole"])
async def agent(request: pytest.FixtureRequest, place: Place) -> AsyncIterator[AgentsConversation]:
    """A loop of the Agents SDK, in both of its ways."""
    conversation = AgentsConversation(place.url, streams=request.param)
    yield conversation
    await conversation.close()


def reply(talk: Conversation | AgentsConversation, *pieces: Piece, tokens: int = 3) -> Reply:
    """An answer in the form that the client asks for, with usage."""
    usage = {"prompt_tokens": 1, "completion_tokens": tokens - 1, "total_tokens": tokens}
    return (chat_reply if talk.streams else completion)(*pieces, usage=usage)


def edit(topic: str, new: str, letter: str = "a", index: int = 0) -> Tool:
    """An edit as the model calls it."""
    return Tool("edit", arguments(f"{topic}.ts", new), f"call_{topic}{letter}", index)


def called(answer: Answer) -> list[tuple[str, JsonObject]]:
    """The calls that the application is asked to run, by id."""
    assert all(call.name == "edit" for call in answer.calls)
    return [(call.id, call.arguments) for call in answer.calls]


def as_called(*calls: Tool) -> list[tuple[str, JsonObject]]:
    """What `called` gives where these calls came through."""
    return [(call.id, json.loads(call.arguments)) for call in calls]


@pytest.mark.case(106)
@pytest.mark.case(114)
async def test_interrupted_text_reads_as_one_answer(
    talk: Conversation, place: Place, topic: str
) -> None:
    """No letter of the violation, one finish reason, the last attempt's usage, no exception."""
    upstream = place.upstream
    upstream.script(
        reply(talk, f"All clear, {topic}. ", "FORB", "IDDEN", " more"),
        reply(talk, f"Better, {topic}.", tokens=12),
        reply(talk, "Third."),
    )
    answer = await talk.ask(f"hi {topic}")
    shown = f"All clear, {topic}. \n\n" if talk.streams else ""
    assert answer.text == f"{shown}Better, {topic}."
    assert (answer.calls, answer.finish, answer.tokens) == ((), "stop", 12)
    user, partial, note = sent(upstream)
    assert user["content"] == f"hi {topic}"
    assert partial["content"] == f"All clear, {topic}. FORBIDDEN"
    assert note["role"] == "user"
    assert "Say it kindly." in note["content"]
    await talk.ask("more")
    assert place.raw(2)[:3] == place.raw(1)
    assert sent(upstream)[3]["content"] == f"Better, {topic}."


@pytest.mark.case(110)
@pytest.mark.case(114)
async def test_interrupted_call_never_reaches_the_application(
    talk: Conversation, place: Place, topic: str
) -> None:
    """Of the abandoned calls nothing shows; the clean one comes whole, and once."""
    upstream = place.upstream
    good = edit(topic, "fine", "c")
    bad = (edit(topic, "fine"), edit(topic, "FORBIDDEN", "b", 1))
    upstream.script(
        reply(talk, f"I edit {topic}.", *bad),
        reply(talk, good, tokens=12),
        reply(talk, "Done."),
    )
    answer = await talk.ask(f"hi {topic}")
    assert answer.text == (f"I edit {topic}." if talk.streams else "")
    assert called(answer) == as_called(good)
    assert (answer.finish, answer.tokens) == ("tool_calls", 12)
    _, partial, note = sent(upstream)
    assert partial["content"] == f"I edit {topic}."
    assert "tool_calls" not in partial
    assert f"`{topic}.ts`" in note["content"]
    done = await talk.results("written")
    assert (done.text, done.finish) == ("Done.", "stop")
    assert place.raw(2)[:3] == place.raw(1)
    *_, call, result = sent(upstream)
    assert not call.get("content")
    assert [made["id"] for made in call["tool_calls"]] == [good.id]
    assert result["content"] == "written"


async def test_refused_call_is_replaced_by_the_next_one(
    talk: Conversation, place: Place, topic: str
) -> None:
    """What only the finished call shows is withheld whole; the model is told at its result."""
    upstream = place.upstream
    good = edit(topic, "the end.", "b")
    upstream.script(
        reply(talk, f"I edit {topic}.", edit(topic, "the end")),
        reply(talk, good, tokens=12),
        reply(talk, "Done."),
    )
    answer = await talk.ask(f"hi {topic}")
    assert answer.text == (f"I edit {topic}." if talk.streams else "")
    assert called(answer) == as_called(good)
    assert (answer.finish, answer.tokens) == ("tool_calls", 12)
    _, refused, told = sent(upstream)
    assert refused["tool_calls"][0]["function"]["arguments"] == edit(topic, "the end").arguments
    assert told["role"] == "tool"
    assert "Say more." in told["content"]
    await talk.results("written")
    assert place.raw(2)[:3] == place.raw(1)
    assert sent(upstream)[-1]["content"] == "written"


@pytest.mark.case(113)
async def test_spent_rule_refuses_a_call_but_lets_text_pass(
    talk: Conversation, place: Place, topic: str
) -> None:
    """Once its note stands in the conversation a rule cuts nothing and still withholds calls."""
    upstream = place.upstream
    good = edit(topic, "fine", "b")
    upstream.script(
        reply(talk, f"FORBIDDEN {topic}"),
        reply(talk, f"Better, {topic}."),
        reply(talk, "FORBIDDEN text", edit(topic, "FORBIDDEN")),
        reply(talk, good, tokens=12),
    )
    assert (await talk.ask(f"hi {topic}")).text == f"Better, {topic}."
    answer = await talk.ask("edit")
    assert answer.text == ("FORBIDDEN text" if talk.streams else "")
    assert called(answer) == as_called(good)
    assert (answer.finish, answer.tokens) == ("tool_calls", 12)
    assert upstream.exchanges[2].outcome == "complete"
    assert place.raw(3)[: len(place.raw(2))] == place.raw(2)
    assert [message["role"] for message in sent(upstream)[-2:]] == ["assistant", "tool"]


@pytest.mark.case(119)
@pytest.mark.case(120)
async def test_reminder_stands_in_front_of_the_result_from_then_on(
    talk: Conversation, place: Place, topic: str
) -> None:
    """The call runs and costs no request; the client never sees what its result is told with."""
    upstream = place.upstream
    call = edit(topic, "QUIETLY")
    upstream.script(
        reply(talk, f"I edit {topic}.", call, tokens=12),
        *(reply(talk, f"Answer {number}.") for number in range(3)),
    )
    answer = await talk.ask(f"hi {topic}")
    assert (answer.text, answer.finish, answer.tokens) == (f"I edit {topic}.", "tool_calls", 12)
    assert called(answer) == as_called(call)
    assert len(upstream.exchanges) == 1
    await talk.results("written")
    result = sent(upstream)[-1]
    assert result["tool_call_id"] == call.id
    assert result["content"].startswith("<system-reminder ")
    assert "Stay calm." in result["content"]
    assert result["content"].endswith("</system-reminder>\n\nwritten")
    for said in ("more", "still more"):
        await talk.ask(f"{said} {topic}")
        assert place.raw(-1)[: len(place.raw(-2))] == place.raw(-2)


@pytest.mark.parametrize("library", SDK, indirect=True)
async def test_withheld_call_ends_in_an_ordinary_answer(
    talk: Conversation, place: Place, topic: str
) -> None:
    """When no attempt is left the application reads which call was withheld, by which rule."""
    attempts = [reply(talk, edit(topic, "the end", letter), tokens=12) for letter in "abcd"]
    place.upstream.script(*attempts, reply(talk, "Then not."))
    answer = await talk.ask(f"hi {topic}")
    assert answer.calls == ()
    assert answer.finish == "stop"
    assert f"`edit` on `{topic}.ts`" in answer.text
    assert "`more`" in answer.text
    assert (await talk.ask("go on")).text == "Then not."
    before = place.raw(3)
    assert place.raw(4)[: len(before)] == before
    assert sent(place.upstream)[len(before)]["content"] == answer.text


async def test_failed_reissue_raises_what_the_library_documents(
    talk: Conversation, place: Place, topic: str
) -> None:
    """A stream fails as the SDK's `APIError`, a whole answer with its status; neither hangs."""
    place.upstream.script(reply(talk, f"All clear, {topic}. ", "FORBIDDEN"), OVER_QUOTA)
    with pytest.raises(openai.APIError, match="over quota") as raised:
        await talk.ask(f"hi {topic}")
    if not talk.streams:
        assert isinstance(raised.value, openai.APIError)
        assert getattr(raised.value, "status_code", None) == OVER_QUOTA.status
    elif raised.type is openai.APIError:  # litellm has a kind of its own for a broken stream
        assert (raised.value.type, raised.value.code) == ("ttsr_error", "reissue_failed")
    assert len(place.upstream.exchanges) == 2


@pytest.mark.parametrize("library", [way for way in SDK if "whole" not in way], indirect=True)
async def test_broken_stream_raises_and_is_never_made_whole(
    talk: Conversation, place: Place, topic: str
) -> None:
    """A reissued answer that breaks off is a broken answer for the SDK too."""
    broken = replace(reply(talk, f"Better, {topic}."), terminate="abort")
    cut = replace(broken, body=broken.body[: len(broken.body) // 2])
    place.upstream.script(reply(talk, f"All clear, {topic}. ", "FORBIDDEN"), cut)
    with pytest.raises((openai.APIError, httpx2.RemoteProtocolError)):
        await talk.ask(f"hi {topic}")


@pytest.mark.parametrize("library", ["openai-whole"], indirect=True)
async def test_broken_whole_answer_is_asked_for_again_by_the_sdk(
    talk: Conversation, place: Place, topic: str
) -> None:
    """The client gets a status that its SDK retries; the retry begins a turn of its own."""
    answer = reply(talk, f"Better, {topic}.")
    broken = replace(answer, framing="chunked", terminate="abort")
    place.upstream.script(reply(talk, f"FORBIDDEN {topic}"), broken, answer)
    assert (await talk.ask(f"hi {topic}")).text == f"Better, {topic}."
    assert place.raw(2) == place.raw(0)


@pytest.mark.case(106)
async def test_loop_goes_on_over_interrupted_text(
    agent: AgentsConversation, place: Place, topic: str
) -> None:
    """The loop ends with the clean answer; what it showed has no letter of the violation."""
    upstream = place.upstream
    upstream.script(
        reply(agent, f"All clear, {topic}. ", "FORB", "IDDEN", " more"),
        reply(agent, f"Better, {topic}.", tokens=12),
        reply(agent, "Third."),
    )
    outcome = await agent.ask(f"hi {topic}")
    shown = f"All clear, {topic}. \n\n" if agent.streams else ""
    assert outcome.text == f"{shown}Better, {topic}."
    assert outcome.shown == (outcome.text if agent.streams else "")
    assert outcome.tokens == [12]
    assert (await agent.ask("more")).text == "Third."
    assert place.raw(2)[:3] == place.raw(1)
    assert sent(upstream)[3]["content"] == f"Better, {topic}."


@pytest.mark.parametrize("violation", ["FORBIDDEN", "the end"], ids=["interrupt", "refusal"])
async def test_loop_runs_only_the_clean_call(
    agent: AgentsConversation, place: Place, topic: str, violation: str
) -> None:
    """The tool is run once, with the clean arguments, and the loop goes on from its result."""
    upstream = place.upstream
    upstream.script(
        reply(agent, f"I edit {topic}.", edit(topic, violation)),
        reply(agent, edit(topic, "fine", "b"), tokens=12),
        reply(agent, f"Done, {topic}."),
        reply(agent, "Third."),
    )
    outcome = await agent.ask(f"hi {topic}")
    assert agent.ran == [(f"{topic}.ts", "fine")]
    assert outcome.text == f"Done, {topic}."
    assert outcome.tokens == [12, 3]
    note = sent(upstream, 1)[-1]
    assert note["role"] == ("user" if violation == "FORBIDDEN" else "tool")
    assert place.raw(2)[:3] == place.raw(1)
    assert sent(upstream, 2)[-1]["content"] == "written"
    await agent.ask("more")
    assert place.raw(3)[: len(place.raw(2))] == place.raw(2)


@pytest.mark.case(120)
async def test_loop_is_reminded_at_the_result_and_its_history_is_clean(
    agent: AgentsConversation, place: Place, topic: str
) -> None:
    """The reminder goes upstream in every later request; the application never has it."""
    upstream = place.upstream
    upstream.script(
        reply(agent, edit(topic, "QUIETLY")),
        *(reply(agent, f"Answer {number}, {topic}.") for number in range(3)),
    )
    assert (await agent.ask(f"hi {topic}")).text == f"Answer 0, {topic}."
    assert agent.ran == [(f"{topic}.ts", "QUIETLY")]
    content = sent(upstream)[-1]["content"]
    assert content.startswith("<system-reminder ")
    assert content.endswith("</system-reminder>\n\nwritten")
    for said in ("more", "still more"):
        await agent.ask(said)
        assert place.raw(-1)[: len(place.raw(-2))] == place.raw(-2)
    assert "Stay calm." not in str(agent.history)


async def test_loop_reads_a_withheld_call_as_its_last_word(
    agent: AgentsConversation, place: Place, topic: str
) -> None:
    """An exhausted turn runs nothing and ends the loop with the message."""
    place.upstream.script(*(reply(agent, edit(topic, "the end", letter)) for letter in "abcd"))
    outcome = await agent.ask(f"hi {topic}")
    assert agent.ran == []
    assert f"`edit` on `{topic}.ts`" in outcome.text


async def test_loop_raises_when_the_reissue_fails(
    agent: AgentsConversation, place: Place, topic: str
) -> None:
    """The run ends with the SDK's exception; nothing was run on half an answer."""
    place.upstream.script(reply(agent, edit(topic, "FORBIDDEN")), OVER_QUOTA)
    with pytest.raises(openai.APIError, match="over quota"):
        await agent.ask(f"hi {topic}")
    assert agent.ran == []
    assert len(place.upstream.exchanges) == 2
