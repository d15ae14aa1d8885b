"""opencode, run as `opencode run`, twice in one session."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest

from tests.agents import story
from tests.agents.lab import (
    KEY,
    LONGEST_RUN,
    MODEL,
    NODE,
    Bench,
    Program,
    Run,
    bench_at,
    run_of,
)
from tests.support.chat import Tool

pytestmark = pytest.mark.timeout(2 * LONGEST_RUN)


def settings_of(url: str) -> str:
    """opencode.json: the proxy as an OpenAI-compatible provider; no updates, no sharing."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Lab",
        "options": {"baseURL": url, "apiKey": KEY},
        "models": {MODEL: {"name": MODEL, "tool_call": True}},
    }
    return json.dumps(
        {
            "provider": {"lab": provider},
            "model": f"lab/{MODEL}",
            "small_model": f"lab/{MODEL}",
            "autoupdate": False,
            "share": "disabled",
            "permission": {"edit": "allow", "bash": "allow"},
        }
    )


def program(bench: Bench, *words: str) -> Program:
    return Program(
        (str(NODE / "node_modules/.bin/opencode"), "run", *words),
        {
            "OPENCODE_CONFIG_CONTENT": settings_of(bench.url),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        },
    )


def write(path: str, id: str, content: str) -> Tool:  # noqa: A002 - the wire's word
    return Tool("write", json.dumps({"content": content, "filePath": path}), id)


def edit(path: str, id: str, old: str, new: str) -> Tool:  # noqa: A002 - the wire's word
    arguments = {"filePath": path, "oldString": old, "newString": new}
    return Tool("edit", json.dumps(arguments), id)


async def live(place: Path) -> Run:
    path = str(place / "work" / story.FILE)
    model = story.model_of(partial(write, path), partial(edit, path))
    async with bench_at(place, model, story.RULES) as bench:
        again = program(bench, "--continue", story.NEXT_PROMPT)
        return await run_of(bench, model, program(bench, story.PROMPT), again)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return asyncio.run(live(tmp_path_factory.mktemp("opencode")))


def test_opencode_never_runs_what_a_rule_stopped(run: Run) -> None:
    """Two bad calls and a bad sentence are cut out, and the agent goes on to its end."""
    story.check_end(run)
    story.check_actions(run, "opencode")


def test_opencode_keeps_the_reminder_in_every_request(run: Run) -> None:
    """The reminder is found at its result again, in a session taken up again from the disk too."""
    story.check_reminder(run)
    story.check_prefixes(run)
    story.check_history(run)


def test_opencode_asks_for_a_title_that_is_only_watched(run: Run) -> None:
    """The title's request is marked: what breaks a rule in it is seen, and nothing else."""
    assert [asked.side for asked in run.asked].count(True) == 1
    assert [hit["rule"] for hit in run.hits if hit["action"] == "observed"] == ["plain"]


def test_opencode_names_its_session_and_its_directory(run: Run) -> None:
    """All requests are of one conversation, and the prompt says where the agent works."""
    assert len({turn["conversation"] for turn in run.turns}) == 1
    assert str(run.workspace) in {turn["workspace"] for turn in run.turns}
