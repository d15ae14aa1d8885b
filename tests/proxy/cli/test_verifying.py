from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio.to_thread
import pytest
from typer.testing import CliRunner

from proxy.cli import cli
from tests.support.chat import chat_reply
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio
BAD = "It was kobalt-seven all day."


async def ran(upstream: ScriptedUpstream, *flags: str) -> tuple[int, str, str]:
    words = ["verify", "--upstream", upstream.url, "--model", "m", *flags]
    env = {"OPENAI_API_KEY": "sk-hunter2"}
    result = await anyio.to_thread.run_sync(partial(CliRunner().invoke, cli, words, env=env))
    return result.exit_code, result.stdout, result.stderr


async def test_transcripts_stand_side_by_side(upstream: ScriptedUpstream) -> None:
    """Status 0 where it came out as it should; the key is sent and never shown."""
    upstream.script(chat_reply(BAD), chat_reply("Blue."), chat_reply(BAD))
    status, out, err = await ran(upstream)
    assert (status, err) == (0, "")
    assert "The rule may stop the model" in out
    assert "interrupt by loud" in out
    assert "prose_reminder by loud" in out
    assert out.endswith("As it should be: the one run was stopped, the other only reminded.\n")
    assert upstream.exchanges[0].request.header("authorization") == "Bearer sk-hunter2"
    assert "hunter2" not in out


async def test_status_tells_that_the_model_was_not_stopped(upstream: ScriptedUpstream) -> None:
    """1, and what is wrong."""
    upstream.script(chat_reply("Blue."), chat_reply("Blue."))
    status, out, _ = await ran(upstream)
    assert status == 1
    assert "not as it should be: the model did not break the rule" in out


async def test_what_cannot_run_is_an_error(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """2, as JSON where that is asked for."""
    status, out, err = await ran(upstream, "--fixture", str(tmp_path), "--json")
    assert (status, err) == (2, "")
    assert "loud.md cannot be read" in out
