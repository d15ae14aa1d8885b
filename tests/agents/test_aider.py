"""aider: no tools, edits in prose, and its own test run as the next thing that is said."""

from __future__ import annotations

import asyncio
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
    JsonObject,
    Program,
    Run,
    ScriptedModel,
    bench_at,
    joined,
    run_of,
)

pytestmark = pytest.mark.timeout(2 * LONGEST_RUN)

RULES = {name: story.RULES[name] for name in ("typed", "quiet")}


def program(bench: Bench, *words: str) -> Program:
    """Start it for one message; its test fails until the last edit is made."""
    return Program(
        (
            str(VENVS / "aider/bin/aider"),
            *("--model", f"openai/{MODEL}", "--edit-format", "diff", "--map-tokens", "0"),
            *("--auto-test", "--test-cmd", f"grep -q '2 . n' {story.FILE}", "--no-auto-lint"),
            *("--yes-always", "--no-check-update", "--analytics-disable"),
            *("--no-show-model-warnings", "--no-show-release-notes", "--no-suggest-shell-commands"),
            *("--no-detect-urls", "--disable-playwright", "--no-pretty"),
            *words,
        ),
        {
            "OPENAI_API_BASE": bench.url,
            "OPENAI_API_KEY": KEY,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
    )


def block(old: str, new: str) -> str:
    """An edit as aider's `diff` format writes it."""
    return f"{story.FILE}\n```ts\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"


def for_a_commit(body: JsonObject) -> bool:
    return "Git commit messages" in joined(body["messages"][0]["content"])


async def live(place: Path) -> Run:
    answers = (
        ("I write the file.\n\n", block("", story.BAD_FILE)),
        ("I write the file.\n\n", block("", story.GOOD_FILE)),
        ("Now the line.\n\n", block(f"{story.OLD_LINE}\n", f"{story.GOOD_LINE}\n")),
        ("Nothing is left.",),
    )
    model = ScriptedModel(deque(answers), title="Add rates", aside=for_a_commit)
    async with bench_at(place, model, RULES) as bench:
        again = program(bench, "--restore-chat-history", "--message", story.NEXT_PROMPT)
        return await run_of(bench, model, program(bench, "--message", story.PROMPT), again)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return asyncio.run(live(tmp_path_factory.mktemp("aider")))


def test_aider_never_writes_what_a_rule_stopped(run: Run) -> None:
    """The bad block is cut out of the text before aider has seen any of it."""
    assert run.status == 0, run.output
    assert (len(run.main), run.unsaid) == (run.scripted, 0), run.output
    assert run.file(story.FILE) == story.LAST_FILE
    assert "any" not in run.output
    assert run.actions() == [("typed", "interrupt"), ("quiet", "prose_reminder")]
    assert {turn["outcome"] for turn in run.turns} == {"completed"}
    assert {row["agent"] for row in (*run.hits, *run.turns)} == {"aider"}


def test_aider_is_reminded_in_front_of_its_next_message(run: Run) -> None:
    """The note stands in the user message behind the edit, which aider puts there itself."""
    messages = run.main[2].messages
    edited = next(n for n, m in enumerate(messages) if story.GOOD_FILE in m["content"])
    behind = messages[edited + 1]
    assert (messages[edited]["role"], behind["role"]) == ("assistant", "user")
    assert behind["content"].startswith("<system-reminder ")
    assert "Leave no print behind." in behind["content"]
    assert "</system-reminder>\n\nI committed the changes" in behind["content"]


def test_aider_is_known_when_it_asks_for_a_commit_message(run: Run) -> None:
    """One request an edit, with a prompt of its own and the rules in force."""
    assert [asked.side for asked in run.asked].count(True) == 2
    assert len(run.turns) == len(run.asked) - 1


def test_aider_finds_the_notes_again_in_a_restored_chat(run: Run) -> None:
    """A history read back from aider's own Markdown file still gets both notes, once each."""
    told = "\n".join(str(message["content"]) for message in run.main[-1].messages)
    assert told.count("Leave no print behind.") == 1
    assert told.count("Name the type.") == 1
