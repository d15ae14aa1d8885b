"""Files that shell commands write, through the real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.agent import agent_at, sent, write_rules
from tests.support.chat import Tool, chat_reply, completion
from tests.support.rules import rule_text
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio

SCOPE = "tool:write(src/*.ts), tool:edit(src/*.ts)"
PYTHON = rule_text("Say it kindly.", condition="FORBIDDEN", scope=SCOPE)
QUIET = rule_text("Say it kindly.", condition="FORBIDDEN", scope=SCOPE, interruptMode="never")

# Each writes `src/a.ts`, some of them with the directory that the call says.
COMMANDS = {
    "sed": {"command": "sed -i 's/old/FORBIDDEN/' src/a.ts"},
    "echo": {"command": "cd src && echo 'so FORBIDDEN' > a.ts"},
    "document": {"command": "cat > a.ts <<'EOF'\nso FORBIDDEN\nEOF\n", "workdir": "src"},
    "pipe": {"workdir": "src", "command": "printf 'FORBIDDEN\\n' | tee -a a.ts"},
    "patch": {
        "command": "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.ts\n"
        "-old\n+FORBIDDEN\n*** End Patch\nEOF\n"
    },
    "script": {"command": "bash -lc \"cd src; cat > a.ts <<'EOF'\nFORBIDDEN\nEOF\n\""},
}
PASSED = {
    "removed": {"command": "sed -i 's/FORBIDDEN/kind/' src/a.ts"},
    "sibling": {"command": "echo FORBIDDEN > src/a.md; echo kind > src/a.ts"},
    "elsewhere": {"command": "echo FORBIDDEN > src/a.ts", "workdir": "lib"},
    "no write": {"command": "grep FORBIDDEN src/a.ts"},
}
GOOD = Tool("bash", json.dumps({"command": "ls"}), "c2")


def call(arguments: dict[str, str]) -> Tool:
    return Tool("bash", json.dumps(arguments), "c1")


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "document"])
async def test_forbidden_write_never_reaches_the_agent(
    upstream: ScriptedUpstream,
    tmp_path: Path,
    arguments: dict[str, str],
    stream: bool,  # noqa: FBT001 - parameter
) -> None:
    """The agent gets the next attempt's call; the model is told which file broke which rule."""
    write_rules(tmp_path, foo=PYTHON)
    reply = chat_reply if stream else completion
    upstream.script(reply(call(arguments)), reply(GOOD))
    async with agent_at(upstream, tmp_path) as agent:
        agent.stream = stream
        message = await agent.ask("go")
        assert [each["id"] for each in message["tool_calls"]] == ["c2"]
        told = json.dumps(sent(upstream))
        assert "Say it kindly." in told
        assert "src/a.ts" in told
        (hit,) = await agent.audit()
        assert hit["action"] in {"interrupt", "refuse"}
        assert (hit["surface"], hit["tool"], hit["target_path"]) == ("tool", "bash", "src/a.ts")


@pytest.mark.parametrize("arguments", PASSED.values(), ids=PASSED)
async def test_other_commands_pass_untouched(
    upstream: ScriptedUpstream, tmp_path: Path, arguments: dict[str, str]
) -> None:
    """What a command removes, or writes to another file, breaks no rule for this one."""
    write_rules(tmp_path, foo=PYTHON)
    upstream.script(chat_reply(call(arguments)))
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("go")
        (made,) = message["tool_calls"]
        assert json.loads(made["function"]["arguments"]) == arguments
        assert len(upstream.exchanges) == 1
        assert await agent.audit() == []


async def test_quiet_rule_is_told_with_the_result(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The command runs, and its result comes with the reminder."""
    write_rules(tmp_path, foo=QUIET)
    upstream.script(chat_reply(call(COMMANDS["sed"])), chat_reply("Right."))
    async with agent_at(upstream, tmp_path) as agent:
        message = await agent.ask("go")
        assert [each["id"] for each in message["tool_calls"]] == ["c1"]
        await agent.results("ok")
        assert "Say it kindly." in json.dumps(sent(upstream)[-1])
        (hit,) = await agent.audit()
        assert (hit["action"], hit["target_path"]) == ("tool_reminder", "src/a.ts")
