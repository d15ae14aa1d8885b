"""Agents that edit in prose, through the real server: rules on tools work for them too."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.agent import TOOLS, Agent, agent_at, sent, write_rules
from tests.support.chat import chat_reply, completion
from tests.support.dialects import DIALECTS, Dialect, taught
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio

PYTHON = rule_text(
    "Say it kindly.", condition="FORBIDDEN", scope="tool:edit(*.py), tool:write(*.py)"
)
QUIET = rule_text("Say it kindly.", condition="FORBIDDEN", scope="tool", interruptMode="never")
each_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=str)


def prepared(agent: Agent, dialect: Dialect, *, stream: bool = True) -> None:
    agent.tools, agent.stream = (TOOLS if dialect.tools_off else ()), stream
    agent.messages[:] = [{"role": "system", "content": dialect.prompt}]


def test_every_format_of_every_agent_has_its_dialect() -> None:
    """What an agent's file says that it is taught is tried here."""
    assert taught() == {(dialect.agent, dialect.format) for dialect in DIALECTS}


@each_dialect
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "document"])
async def test_forbidden_edit_never_reaches_the_agent(
    upstream: ScriptedUpstream,
    tmp_path: Path,
    dialect: Dialect,
    stream: bool,  # noqa: FBT001 - parameter
) -> None:
    """The whole answer comes from the second attempt, which was told why, and to begin anew."""
    write_rules(tmp_path, foo=PYTHON)
    bad, good = dialect.edit("src/a.py", "so FORBIDDEN it is"), dialect.edit("src/a.py", "fine")
    reply = chat_reply if stream else completion
    upstream.script(reply(*bad), reply(good))
    async with agent_at(upstream, tmp_path) as agent:
        prepared(agent, dialect, stream=stream)
        message = await agent.ask(dialect.question("src/a.py"), **dialect.more())
        assert message["content"] == good
        partial, note = sent(upstream)[-2:]
        assert partial["role"] == "assistant"
        assert bad.startswith(partial["content"])
        assert partial["content"].endswith("so FORBIDDEN")
        assert note["role"] == "user"
        assert f"`{dialect.tool}` on `src/a.py` in your text broke a rule" in note["content"]
        assert "give the whole answer again from its beginning" in note["content"]
        (hit,) = await agent.audit()
        assert (hit["action"], hit["surface"], hit["tool"]) == ("interrupt", "tool", dialect.tool)
        assert (hit["target_path"], hit["agent"]) == ("src/a.py", dialect.agent)


@each_dialect
async def test_edit_of_another_file_passes_untouched(
    upstream: ScriptedUpstream, tmp_path: Path, dialect: Dialect
) -> None:
    """A rule for Python files does not see what is written to a text file, nor old text."""
    write_rules(tmp_path, foo=PYTHON)
    other, mended = dialect.edit("a.txt", "so FORBIDDEN it is"), dialect.edit("a.py", "fine")
    upstream.script(chat_reply(*other), chat_reply(*mended))
    async with agent_at(upstream, tmp_path) as agent:
        for path, answer in (("a.txt", other), ("a.py", mended)):
            prepared(agent, dialect)
            told = await agent.ask(dialect.question(path), **dialect.more())
            assert told["content"] == answer
        assert len(upstream.exchanges) == 2
        assert await agent.audit() == []


@each_dialect
async def test_quiet_rule_is_told_behind_the_answer(
    upstream: ScriptedUpstream, tmp_path: Path, dialect: Dialect
) -> None:
    """There is no tool result: the note stands in front of what the user says next."""
    write_rules(tmp_path, foo=QUIET)
    answer = dialect.edit("src/a.py", "so FORBIDDEN it is")
    upstream.script(chat_reply(*answer), chat_reply("Right."), chat_reply("Yes."))
    async with agent_at(upstream, tmp_path) as agent:
        prepared(agent, dialect)
        told = await agent.ask(dialect.question("src/a.py"), **dialect.more())
        assert told["content"] == answer
        await agent.ask("and now")
        last = sent(upstream)[-1]
        assert last["role"] == "user"
        assert last["content"].startswith("<system-reminder ")
        assert "Say it kindly." in last["content"]
        assert last["content"].endswith("\n\nand now")
        await agent.ask("and then")
        assert last in sent(upstream)
        actions = {hit["action"] for hit in await agent.audit()}
        assert actions <= {"prose_reminder", "observed"}


@each_dialect
async def test_rule_on_text_sees_only_what_is_said(
    upstream: ScriptedUpstream, tmp_path: Path, dialect: Dialect
) -> None:
    """Source is no prose: the same word stops the answer where it is said, not where it is made."""
    write_rules(tmp_path, foo=rule_text("Kindly.", condition="FORBIDDEN", scope="text"))
    made, said = dialect.edit("a.py", "FORBIDDEN"), f"{dialect.edit('a.py', 'fine')} FORBIDDEN."
    upstream.script(chat_reply(*made), chat_reply(*said), chat_reply("Fine."))
    async with agent_at(upstream, tmp_path) as agent:
        prepared(agent, dialect)
        first = await agent.ask(dialect.question("a.py"), **dialect.more())
        assert first["content"] == made
        second = await agent.ask(dialect.question("a.py"), **dialect.more())
        assert second["content"] == "Fine."


def cuttings(answer: str, seed: str) -> Iterator[list[str]]:
    """The answer as a model might stream it: whole, by lines, by few characters, anyhow."""
    yield [answer]
    yield answer.splitlines(keepends=True)
    chance = random.Random(seed)
    for size in (3, 0, 0):
        count = len(answer) // size if size else chance.randint(1, 40)
        cuts = sorted(chance.sample(range(1, len(answer)), min(count, len(answer) - 1)))
        bounds = range(0, len(answer), size) if size else [0, *cuts]
        yield [answer[start:end] for start, end in pairwise([*bounds, len(answer)])]


@each_dialect
async def test_cutting_makes_no_difference(
    upstream: ScriptedUpstream, tmp_path: Path, dialect: Dialect
) -> None:
    """Partial, note, hit and what the agent gets are the same however the answer is streamed."""
    write_rules(tmp_path, foo=PYTHON, quiet=QUIET)
    bad, good = dialect.edit("src/a.py", "so FORBIDDEN it is"), dialect.edit("src/a.py", "fine")
    seen = set()
    async with agent_at(upstream, tmp_path) as agent:
        for number, pieces in enumerate(cuttings(bad, dialect.name)):
            upstream.script(chat_reply(*pieces), chat_reply(good))
            prepared(agent, dialect)
            await agent.ask(dialect.question("src/a.py"), **dialect.more())
            assert agent.messages[-1]["content"] == good
            assert len(upstream.exchanges) == 2 * number + 2
            hits = await agent.audit()
            told = sorted(
                f"{hit['rule']} {hit['action']} {hit['excerpt']}"
                for hit in hits
                if hit["turn"] == hits[0]["turn"]
            )
            seen.add((str(sent(upstream)[-2:]), *told))
    assert len(seen) == 1


async def test_request_with_tools_is_read_as_ever(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """An agent that declares tools edits through them; blocks in its text are only shown."""
    write_rules(tmp_path, foo=PYTHON)
    dialect = DIALECTS[0]
    answer = dialect.edit("a.py", "FORBIDDEN")
    upstream.script(chat_reply(*answer))
    async with agent_at(upstream, tmp_path) as agent:
        agent.messages.append({"role": "system", "content": dialect.prompt})
        assert (await agent.ask("go"))["content"] == answer
