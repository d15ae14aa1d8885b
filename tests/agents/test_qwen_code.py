"""Qwen Code, run headless, twice in one session."""

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

SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}},
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
}


def program(bench: Bench, *words: str) -> Program:
    folder = bench.home / ".qwen"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    return Program(
        (str(NODE / "node_modules/.bin/qwen"), "--yolo", *words),
        {
            "OPENAI_BASE_URL": bench.url,
            "OPENAI_API_KEY": KEY,
            "OPENAI_MODEL": MODEL,
            # It sends loopback through a proxy as well, whatever `NO_PROXY` says.
            "HTTP_PROXY": "",
            "HTTPS_PROXY": "",
        },
    )


def write(path: str, id: str, content: str) -> Tool:  # noqa: A002 - the wire's word
    return Tool("write_file", json.dumps({"file_path": path, "content": content}), id)


def edit(path: str, id: str, old: str, new: str) -> Tool:  # noqa: A002 - the wire's word
    arguments = {"file_path": path, "old_string": old, "new_string": new}
    return Tool("edit", json.dumps(arguments), id)


async def live(place: Path) -> Run:
    path = str(place / "work" / story.FILE)
    model = story.model_of(partial(write, path), partial(edit, path))
    async with bench_at(place, model, story.RULES) as bench:
        again = program(bench, "--continue", "-p", story.NEXT_PROMPT)
        return await run_of(bench, model, program(bench, "-p", story.PROMPT), again)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return asyncio.run(live(tmp_path_factory.mktemp("qwen-code")))


def test_qwen_code_never_runs_what_a_rule_stopped(run: Run) -> None:
    """Two bad calls and a bad sentence are cut out, and the agent goes on to its end."""
    story.check_end(run)
    story.check_actions(run, "qwen-code")


def test_qwen_code_keeps_the_reminder_in_every_request(run: Run) -> None:
    """The reminder is a text part in front of its result, in the session taken up again too.

    The message in which the agent lists the directory changes between two starts, on its own.
    """
    story.check_reminder(run)
    story.check_prefixes(run, restarted_at=6, own=2)
    story.check_history(run)


def test_qwen_code_names_its_directory(run: Run) -> None:
    """The first user message says where the agent works."""
    assert {turn["workspace"] for turn in run.turns} == {str(run.workspace)}


async def live_long(place: Path) -> Run:
    path = str(place / "work" / story.FILE)
    model = story.compacted(partial(write, path), [("All done.",)])
    async with bench_at(place, model, story.RULES, elsewhere=True) as bench:
        return await run_of(bench, model, program(bench, "-p", story.PROMPT))


def test_qwen_code_compresses_and_keeps_the_notes_of_what_it_keeps(tmp_path: Path) -> None:
    """Rules only watch the compression; the last call is kept, and its notes with it.

    The rules are those of the directory that the agent names in its first message.
    """
    run = asyncio.run(live_long(tmp_path))
    assert (run.status, run.unsaid) == (0, 0), run.output
    assert run.actions() == [
        ("plain", "interrupt"),
        ("quiet", "tool_reminder"),
        ("plain", "observed"),
    ]
    assert [asked.side for asked in run.asked] == [False, False, True, False]
    last = run.main[-1]
    assert "FORBIDDEN summary" in last.texts("user")[0]
    assert len(story.reminders(last)) == 1
    assert "\n".join(last.texts("user")).count("Speak plainly.") == 1
