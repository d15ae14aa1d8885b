"""A server that starts again over the same rules compiles nothing."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.support.agent import agent_at, write_rules
from tests.support.chat import chat_reply
from tests.support.proxy import until
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.anyio

RULE = "---\ncondition: 'forbidden\\s+word'\nscope: text\n---\nDo not say that."


async def test_second_start_takes_every_scanner_from_the_disk(
    upstream: ScriptedUpstream, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The rule is enforced all the same."""
    pytest.importorskip("hyperscan")
    write_rules(tmp_path, no=RULE)
    done: list[list[str]] = []
    for _ in range(2):
        caplog.clear()
        upstream.script(chat_reply("a forbidden  word"), chat_reply("Fine."))
        with caplog.at_level(logging.DEBUG, "proxy.scanner_cache"):
            async with agent_at(upstream, tmp_path) as agent:

                async def is_there() -> bool:
                    return bool(_messages(caplog))

                await until(is_there)
                message = await agent.ask("hi")
        assert str(message["content"]).endswith("Fine.")
        done.append([text.partition(" was ")[2] for text in _messages(caplog)])
    assert done == [["compiled"], ["taken from the cache"]]


def _messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name == "proxy.scanner_cache"]
