"""How much is done for a request, counted: what is not needed is not read, and nothing twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proxy import anchors, splice
from proxy.beside import LARGE
from proxy.conversation import Memory, spine
from proxy.splice import Delivery, Kept, Note, Placement, Splice, ToolNote
from proxy.wire.chat import WIRE_API
from proxy.wire.openai.layout import value_of
from tests.support.python_calls import calls_of
from tests.support.request_path import RequestPath, body_of, conversation, request_path
from tests.support.rules import rule_text, ruleset

pytestmark = pytest.mark.anyio

NOTE = Note("Mind it.", WIRE_API.user("Mind it."), Placement.INTO_TOOL, (Delivery("r", "h"),))
INTERRUPT = Splice(
    before=(
        Kept(WIRE_API.partial("Half."), partial=True),
        Note("No.", WIRE_API.user("No."), Placement.OWN, (Delivery("r", "h"),)),
    )
)
REMINDER = Splice(tool_notes=(ToolNote(0, "read", NOTE),))
# Some 15 % above what is needed now. Who makes something cheaper lowers it.
MOST_CALLS = 385


async def leave(path: RequestPath, body: bytes, at: int, left: Splice) -> None:
    """Store a splice at an assistant message, as its turn would have."""
    messages = WIRE_API.read(body).messages
    found_by = anchors.places(messages[at], spine(messages[:at]))
    await path.store.append("local", found_by, splice.encode(left), 0.0)


def cut(body: bytes) -> list[bytes]:
    spans = value_of(body, "messages")[1]
    assert spans is not None
    return [body[slice(*span)] for span in spans]


@pytest.mark.parametrize("number", [0, 60, 600])
async def test_short_request_goes_out_for_few_calls(tmp_path: Path, number: int) -> None:
    """A request that has no history costs the same, whatever the number of rules."""
    rules = ruleset(**{f"no-{at}": rule_text(condition=f"zz{at}q") for at in range(number)})
    async with request_path(tmp_path, rules) as path:
        body = body_of(conversation(0))
        await path.calls(body)  # what is made once
        assert await path.calls(body) <= MOST_CALLS


@pytest.mark.parametrize("rounds", [1, 60])
async def test_request_costs_one_read_of_the_ledger(tmp_path: Path, rounds: int) -> None:
    """However long the conversation is, its splices are asked for at once."""
    async with request_path(tmp_path) as path:
        await path.send(body_of(conversation(rounds)))
        assert len(path.statements) == 1


async def test_conversation_that_the_model_has_not_answered_reads_nothing(tmp_path: Path) -> None:
    """There is no message that a splice could belong to."""
    async with request_path(tmp_path) as path:
        await path.send(body_of(conversation(0)))
        assert path.statements == []


@pytest.mark.parametrize("size", [100, LARGE // 50])
async def test_body_without_splices_goes_out_as_it_came(tmp_path: Path, size: int) -> None:
    """The very object: nothing is encoded, nothing copied, on a thread or not."""
    body = body_of(conversation(60, size))
    async with request_path(tmp_path) as path:
        sent = await path.send(body)
        assert sent == body
        assert sent is path.wire.asked[0].body
        assert path.wire.edited == 0


async def test_only_the_models_own_messages_are_ever_read(tmp_path: Path) -> None:
    """Results of tools are gone past, except for their role and id."""
    async with request_path(tmp_path) as path:
        await path.send(body_of(conversation(20)))
        (asked,) = path.wire.asked
    read = [message.role for message in asked.messages if {"text", "calls"} & vars(message).keys()]
    assert read == ["system", "user", *["assistant"] * 20]


async def test_known_messages_are_not_read_again(tmp_path: Path) -> None:
    """The next request of a conversation costs its new messages."""
    async with request_path(tmp_path) as path:
        await path.send(body_of(conversation(20)))
        assert path.relay._memory.read == 20
        await path.send(body_of(conversation(21)))
        assert path.relay._memory.read == 21
    read = [m.role for m in path.wire.asked[1].messages if "calls" in vars(m)]
    assert read == ["assistant"]


async def test_splices_change_the_messages_that_they_name_alone(tmp_path: Path) -> None:
    """One body is made; every other message, and all that surrounds them, keeps its bytes."""
    body = body_of(conversation(20))
    async with request_path(tmp_path) as path:
        await leave(path, body, 10, INTERRUPT)
        await leave(path, body, 20, REMINDER)
        path.statements.clear()
        sent = await path.send(body)
        assert len(path.statements) == 1
        assert path.wire.edited == 1
    before, after = cut(body), cut(sent)
    assert (after[:10], after[12:23], after[24:]) == (before[:10], before[10:21], before[22:])
    assert [json.loads(each)["content"] for each in after[10:12]] == ["Half.", "No."]
    assert json.loads(after[23])["content"].startswith("Mind it.\n\né\n")
    assert sent.startswith(body[: body.index(before[0])])
    assert sent.endswith(body[body.index(before[-1]) :])


async def test_refused_splices_are_placed_otherwise_only_then(tmp_path: Path) -> None:
    """The other forms of a body are made when an upstream asks for them, not before."""
    body = body_of(conversation(5))
    async with request_path(tmp_path) as path:
        await leave(path, body, 4, INTERRUPT)
        await path.send(body)
        assert path.wire.edited == 1


def test_work_grows_with_the_conversation() -> None:
    """Four times the messages are four times the calls, read for the first time and again."""

    def work(rounds: int, memory: Memory) -> int:
        body = body_of(conversation(rounds))
        return calls_of(lambda: anchors.lookup_keys(spine(WIRE_API.read(body).messages, memory)))

    small, large = Memory(), Memory()
    for _ in ("met now", "met before"):
        assert work(400, large) <= 4.1 * work(100, small)


def test_work_does_not_grow_with_what_tools_return() -> None:
    """A result of a kilobyte costs as many calls as one of ten characters."""
    small, large = (body_of(conversation(50, size)) for size in (10, 1000))
    assert calls_of(lambda: spine(WIRE_API.read(small).messages)) == calls_of(
        lambda: spine(WIRE_API.read(large).messages)
    )
