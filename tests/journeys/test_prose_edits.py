"""Agents that edit in prose, through the real server: rules on tools work for them too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.agent import Agent, agent_at, sent, write_rules
from tests.support.chat import chat_reply, completion
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio

PYTHON = rule_text(
    "Say it kindly.", condition="FORBIDDEN", scope="tool:edit(*.py), tool:write(*.py)"
)
QUIET = rule_text("Say it kindly.", condition="FORBIDDEN", scope="tool", interruptMode="never")


@dataclass(frozen=True)
class Dialect:
    """How one agent's prompt teaches edits, and an edit of a file as its model writes it."""

    agent: str
    prompt: str
    before: str  # the source
    behind: str
    tool: str

    def edit(self, path: str, source: str) -> str:
        return f"I edit.\n\n{self.before.replace('PATH', path)}{source}{self.behind}\nDone."


AIDER = "Act as an expert software developer.\n"
DIALECTS = [
    Dialect(
        "aider",
        AIDER + "Answer with *SEARCH/REPLACE blocks*.",
        "PATH\n```\n<<<<<<< SEARCH\nold FORBIDDEN\n=======\n",
        "\n>>>>>>> REPLACE\n```",
        "edit",
    ),
    Dialect("aider", AIDER + "Return a *file listing*.", "PATH\n```\n", "\n```", "write"),
    Dialect(
        "aider",
        AIDER + "Write the changes as `diff -U0` would.",
        "```diff\n--- PATH\n+++ PATH\n@@ ... @@\n-FORBIDDEN\n+",
        "\n```",
        "edit",
    ),
    Dialect(
        "cline",
        "You are Cline. Use <write_to_file> with <path> and <content>.",
        "<write_to_file>\n<path>PATH</path>\n<content>\n",
        "\n</content>\n</write_to_file>",
        "write_to_file",
    ),
    Dialect(
        "mini-swe-agent",
        "You are a helpful assistant that can interact with a computer. Answer with exactly ONE "
        "bash code block.",
        "```bash\ncat > PATH <<'EOF'\n",
        "\nEOF\n```",
        "bash",
    ),
]
each_dialect = pytest.mark.parametrize(
    "dialect", DIALECTS, ids=["aider-diff", "aider-whole", "aider-udiff", "cline", "mini"]
)


def prepared(agent: Agent, dialect: Dialect, *, stream: bool = True) -> None:
    agent.tools, agent.stream = (), stream
    agent.messages.append({"role": "system", "content": dialect.prompt})


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
        message = await agent.ask("go")
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
    """A rule for Python files does not see what is written to a text file."""
    write_rules(tmp_path, foo=PYTHON)
    answer = dialect.edit("a.txt", "so FORBIDDEN it is")
    upstream.script(chat_reply(*answer))
    async with agent_at(upstream, tmp_path) as agent:
        prepared(agent, dialect)
        assert (await agent.ask("go"))["content"] == answer
        assert len(upstream.exchanges) == 1
        assert await agent.audit() == []


@each_dialect
async def test_quiet_rule_is_told_behind_the_answer(
    upstream: ScriptedUpstream, tmp_path: Path, dialect: Dialect
) -> None:
    """There is no tool result: the note stands in front of what the user says next."""
    write_rules(tmp_path, foo=QUIET)
    answer = dialect.edit("src/a.py", "so FORBIDDEN it is")
    upstream.script(chat_reply(*answer), chat_reply("Right."))
    async with agent_at(upstream, tmp_path) as agent:
        prepared(agent, dialect)
        assert (await agent.ask("go"))["content"] == answer
        await agent.ask("and now")
        last = sent(upstream)[-1]
        assert last["role"] == "user"
        assert last["content"].startswith("<system-reminder ")
        assert "Say it kindly." in last["content"]
        assert last["content"].endswith("\n\nand now")
        actions = {hit["action"] for hit in await agent.audit()}
        assert actions <= {"prose_reminder", "observed"}


async def test_rule_on_text_sees_only_what_is_said(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """Source is no prose: the same word stops the answer where it is said, not where it is made."""
    write_rules(tmp_path, foo=rule_text("Kindly.", condition="FORBIDDEN", scope="text"))
    dialect = DIALECTS[0]
    made = dialect.edit("a.py", "FORBIDDEN")
    upstream.script(chat_reply(*made), chat_reply("It is FORBIDDEN."), chat_reply("Fine."))
    async with agent_at(upstream, tmp_path) as agent:
        prepared(agent, dialect)
        assert (await agent.ask("go"))["content"] == made
        assert (await agent.ask("go on"))["content"] == "Fine."


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
