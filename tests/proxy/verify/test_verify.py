from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread
import pytest

from proxy.errors import CannotRun
from proxy.verify import FIXTURE, PROMPT, RULE, Verification, Verify, fields, verify
from rules_engine.frontmatter import parse_rule
from tests.support.chat import chat_reply
from tests.support.rules import rule_text
from tests.support.upstream import JSON_HEADERS, Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
BAD = "The sky above the harbour was kobalt-seven all day."


async def verified(asked: Verify) -> Verification:
    call: Callable[[Verify], Verification] = verify
    return await anyio.to_thread.run_sync(call, asked)


def asked(upstream: ScriptedUpstream, fixture: Path = FIXTURE) -> Verify:
    return Verify(upstream.url, "test-model", fixture, "sk-hunter2")


async def test_model_that_is_stopped_and_reminded_passes(upstream: ScriptedUpstream) -> None:
    """Three requests: the cut one, its reissue, and the one under never."""
    upstream.script(chat_reply(BAD), chat_reply("It was blue."), chat_reply(BAD))
    done = await verified(asked(upstream))
    assert done.complaints == ()
    assert (done.loud.actions, done.loud.attempts) == (("interrupt",), 2)
    assert done.loud.answer.endswith("It was blue.")
    assert (done.quiet.actions, done.quiet.attempts) == (("prose_reminder",), 1)
    assert done.quiet.answer == BAD
    assert fields(done)["passed"] is True
    assert "client got: " in done.loud.lines[-1]
    assert len(upstream.exchanges) == 3


async def test_model_that_breaks_no_rule_shows_nothing(upstream: ScriptedUpstream) -> None:
    """That is no success."""
    upstream.script(chat_reply("It was blue."), chat_reply("It was blue."))
    done = await verified(asked(upstream))
    assert "did not break the rule" in done.complaints[0]
    assert "no rule acted" in done.loud.lines


async def test_rule_that_cannot_stop_the_model_is_told(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """The fixture may be one's own; here the rule watches what the model does not say aloud."""
    (tmp_path / RULE).write_text(rule_text("No.", condition="kobalt", scope="thinking"))
    (tmp_path / PROMPT).write_text("Go.\n")
    upstream.script(chat_reply(BAD), chat_reply(BAD))
    assert (await verified(asked(upstream, tmp_path))).complaints
    assert upstream.exchanges[0].request.json["messages"][-1]["content"] == "Go."


@pytest.mark.parametrize("missing", [RULE, PROMPT])
async def test_incomplete_fixture_cannot_run(
    upstream: ScriptedUpstream, tmp_path: Path, missing: str
) -> None:
    """Nothing is asked of the model."""
    for name in {RULE, PROMPT} - {missing}:
        (tmp_path / name).write_text("text")
    with pytest.raises(CannotRun, match=missing):
        await verified(asked(upstream, tmp_path))
    assert not upstream.exchanges


async def test_upstream_that_refuses_cannot_run(upstream: ScriptedUpstream) -> None:
    """With its own words, and not with the key."""
    body = b'{"error": {"message": "no such model, sk-hunter2-sk-hunter2"}}'
    upstream.script(Reply(body, status=404, headers=JSON_HEADERS, framing="content-length"))
    with pytest.raises(CannotRun, match="answered 404") as told:
        await verified(asked(upstream))
    assert "no such model" in str(told.value)
    assert "hunter2" not in str(told.value)


async def test_nobody_at_the_upstream_cannot_run() -> None:
    """The proxy's own error says so."""
    with pytest.raises(CannotRun, match="check --upstream"):
        await verified(Verify("http://127.0.0.1:9", "m"))


async def test_stream_with_an_error_cannot_run(upstream: ScriptedUpstream) -> None:
    """What came before it is no answer."""
    upstream.script(Reply(b'data: {"error": {"message": "overloaded"}}\n\n'))
    with pytest.raises(CannotRun, match="overloaded"):
        await verified(asked(upstream))


def test_bundled_fixture_is_a_good_rule() -> None:
    """It has no problem, and its prompt asks for what it forbids."""
    rule, problems = parse_rule((FIXTURE / RULE).read_text(), "loud", RULE, "native")
    assert rule is not None
    assert not problems
    assert rule.conditions[0] in (FIXTURE / PROMPT).read_text()


@pytest.mark.case(176)
async def test_verify_that_is_killed_leaves_the_users_rules_alone(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    """They are never moved, so there is nothing to put back."""
    rule = tmp_path / ".omp" / "agent" / "rules" / "mine.md"
    rule.parent.mkdir(parents=True)
    rule.write_text(rule_text("Mine.", condition="kobalt"))
    upstream.script(Reply(b": wait\n\n", terminate="stall"))
    code = "from proxy.cli import main; main()"
    command = [sys.executable, "-c", code, "verify", "--upstream", upstream.url, "--model", "m"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    async with await anyio.open_process(command, cwd=tmp_path, env=env, stderr=None) as process:
        with anyio.fail_after(30):
            while not upstream.exchanges:  # noqa: ASYNC110 - the state of another process
                await anyio.sleep(0.02)
        process.kill()
        assert await process.wait() == -signal.SIGKILL
    assert rule.read_text() == rule_text("Mine.", condition="kobalt")
