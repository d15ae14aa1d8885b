"""mini-swe-agent: answers are not streamed, and files are written by the shell."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from pathlib import Path

import pytest

from tests.agents import story
from tests.agents.lab import (
    KEY,
    LONGEST_RUN,
    MODEL,
    VENVS,
    Bench,
    Program,
    Run,
    ScriptedModel,
    bench_at,
    run_of,
)
from tests.support.chat import Tool

pytestmark = pytest.mark.timeout(2 * LONGEST_RUN)

END = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def program(bench: Bench, task: str, *words: str) -> Program:
    """Start it without questions; `OPENAI_API_BASE` is what its model library reads."""
    return Program(
        (
            str(VENVS / "mini-swe-agent/bin/mini"),
            *("--task", task, "--model", f"openai/{MODEL}"),
            *("--yolo", "--exit-immediately", "--output", str(bench.home / "run.json")),
            *words,
        ),
        {
            "OPENAI_API_BASE": bench.url,
            "OPENAI_API_KEY": KEY,
            "MSWEA_CONFIGURED": "1",
            "MSWEA_SILENT_STARTUP": "1",
            "MSWEA_COST_TRACKING": "ignore_errors",
            "MSWEA_GLOBAL_CONFIG_DIR": str(bench.home / "mini"),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
    )


def shell(id: str, command: str) -> Tool:  # noqa: A002 - the wire's word
    return Tool("bash", json.dumps({"command": command}), id)


def write(id: str, content: str) -> Tool:  # noqa: A002 - the wire's word
    return shell(id, f"cat <<'EOF' > {story.FILE}\n{content}EOF")


def edit(id: str, old: str, new: str) -> Tool:  # noqa: A002 - the wire's word
    """Write the whole file again: the shell has no edits that show what they add."""
    return write(id, story.GOOD_FILE.replace(old, new))


async def live(place: Path) -> Run:
    end = shell("call_Tb2NqXs7", END)
    model = story.model_of(write, edit, [("All done.", end)])
    async with bench_at(place, model, story.RULES) as bench:
        return await run_of(bench, model, program(bench, story.PROMPT))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return asyncio.run(live(tmp_path_factory.mktemp("mini-swe-agent")))


def test_mini_swe_agent_never_runs_what_a_rule_stopped(run: Run) -> None:
    """A heredoc is a write of its file: the bad ones never reach the shell.

    Its directory could still come behind the command, so the end of the call decides.
    """
    story.check_end(run)
    story.check_actions(run, "mini-swe-agent", bad_write="refuse")


def test_mini_swe_agent_keeps_the_reminder_in_every_request(run: Run) -> None:
    """Answers come as one document, go back whole, and every note finds its place again."""
    assert not any(asked.body.get("stream") for asked in run.asked)
    story.check_reminder(run)
    story.check_prefixes(run)
    story.check_history(run)


def said(command: str) -> str:
    """Write a command as its text mode wants it."""
    return f"THOUGHT: I go on.\n\n```mswea_bash_command\n{command}\n```"


async def live_in_text(place: Path) -> Run:
    files = (story.BAD_FILE, story.GOOD_FILE)
    answers = [(said(f"cat <<'EOF' > {story.FILE}\n{content}EOF"),) for content in files]
    model = ScriptedModel(deque([*answers, (said(END),)]), title="", aside=lambda _: False)
    text_mode = ("--model-class", "litellm_textbased", "--config", "mini_textbased.yaml")
    async with bench_at(place, model, story.RULES) as bench:
        return await run_of(bench, model, program(bench, story.PROMPT, *text_mode))


def test_command_in_the_text_is_held_to_rules_on_files(tmp_path: Path) -> None:
    """Its text mode has no tools: the file that a command writes is seen all the same."""
    run = asyncio.run(live_in_text(tmp_path))
    assert run.status == 0, run.output
    assert (len(run.main), run.unsaid) == (run.scripted, 0), run.output
    assert run.file(story.FILE) == story.GOOD_FILE
    assert run.actions() == [("typed", "interrupt"), ("quiet", "prose_reminder")]
    assert {row["agent"] for row in (*run.hits, *run.turns)} == {"mini-swe-agent"}
