"""An app on the Vercel AI SDK: no agent that is known, tools of its own, a session of ours."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.agents import story
from tests.agents.lab import KEY, LONGEST_RUN, NODE, Bench, Program, Run, bench_at, run_of
from tests.support.chat import Tool

pytestmark = pytest.mark.timeout(2 * LONGEST_RUN)

APP = Path(__file__).with_name("ai_sdk_app.mjs")


def program(bench: Bench, streams: str, *words: str) -> Program:
    """Start the app from the home, where Node finds its packages."""
    shutil.copy(APP, bench.home)
    (bench.home / "node_modules").symlink_to(NODE / "node_modules")
    command = ("node", str(bench.home / APP.name), bench.url, str(bench.workspace), *words)
    return Program(command, {"LAB_KEY": KEY, "LAB_STREAMS": streams})


def write(id: str, content: str) -> Tool:  # noqa: A002 - the wire's word
    return Tool("write", json.dumps({"path": story.FILE, "content": content}), id)


def edit(id: str, old: str, new: str) -> Tool:  # noqa: A002 - the wire's word
    arguments = {"path": story.FILE, "old_string": old, "new_string": new}
    return Tool("edit", json.dumps(arguments), id)


async def live(place: Path, streams: str = "1") -> Run:
    model = story.model_of(write, edit)
    async with bench_at(place, model, story.RULES) as bench:
        return await run_of(bench, model, program(bench, streams, story.PROMPT, story.NEXT_PROMPT))


@pytest.fixture(scope="module", params=["1", "0"], ids=["streamText", "generateText"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return asyncio.run(live(tmp_path_factory.mktemp("ai-sdk"), request.param))


def test_ai_sdk_app_never_runs_what_a_rule_stopped(run: Run) -> None:
    """The app is unknown, and yet its tools are understood by what they are called and take."""
    story.check_end(run)
    story.check_actions(run, "unknown")


def test_ai_sdk_app_keeps_the_reminder_in_every_request(run: Run) -> None:
    """The SDK returns the history as it got it, so that every note finds its place again."""
    story.check_reminder(run)
    story.check_prefixes(run)
    story.check_history(run)


def test_ai_sdk_app_names_its_session_with_our_header(run: Run) -> None:
    """`x-ttsr-session` groups the turns, and goes no further."""
    assert len({turn["conversation"] for turn in run.turns}) == 1
    assert not any(asked.request.header("x-ttsr-session") for asked in run.asked)
