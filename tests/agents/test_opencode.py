"""opencode, run as `opencode run`, twice in one session."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from functools import partial
from pathlib import Path

import pytest

from tests.agents import story
from tests.agents.lab import (
    KEY,
    LONGEST_RUN,
    MODEL,
    NODE,
    Answer,
    Bench,
    Program,
    Run,
    ScriptedModel,
    bench_at,
    run_of,
)
from tests.support.chat import Tool

pytestmark = pytest.mark.timeout(2 * LONGEST_RUN)


def settings_of(url: str, name: str) -> str:
    """opencode.json: the proxy as an OpenAI-compatible provider; no updates, no sharing."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Lab",
        "options": {"baseURL": url, "apiKey": KEY},
        "models": {name: {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
    }
    return json.dumps(
        {
            "provider": {"lab": provider},
            "model": f"lab/{name}",
            "small_model": f"lab/{name}",
            "autoupdate": False,
            "share": "disabled",
            "permission": {"edit": "allow", "bash": "allow"},
        }
    )


def program(bench: Bench, *words: str, name: str = MODEL) -> Program:
    return Program(
        (str(NODE / "node_modules/.bin/opencode"), "run", *words),
        {
            "OPENCODE_CONFIG_CONTENT": settings_of(bench.url, name),
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


async def live_long(place: Path) -> Run:
    path = str(place / "work" / story.FILE)
    again = ("I use ", "FORBIDDEN", " words again.")
    model = story.compacted(partial(write, path), [again, ("All done.",)])
    async with bench_at(place, model, story.RULES) as bench:
        return await run_of(bench, model, program(bench, story.PROMPT))


def test_opencode_compacts_and_the_rule_is_told_again(tmp_path: Path) -> None:
    """Rules only watch the compaction; the notes that it dropped leave the rule armed."""
    run = asyncio.run(live_long(tmp_path))
    assert (run.status, run.unsaid) == (0, 0), run.output
    assert "summariz" in next(one.texts("system")[0] for one in run.asked[-3:] if one.side)
    assert run.actions() == [
        ("plain", "observed"),
        ("plain", "interrupt"),
        ("quiet", "tool_reminder"),
        ("plain", "observed"),
        ("plain", "interrupt"),
    ]


async def live_below(place: Path) -> Run:
    path = str(place / "work" / story.FILE)
    task = {"description": "write", "prompt": story.PROMPT, "subagent_type": "general"}
    answers: list[Answer] = [
        ("I ask another.", Tool("task", json.dumps(task), story.IDS[3])),
        ("I write the file.", write(path, story.IDS[0], story.BAD_FILE)),
        (write(path, story.IDS[1], story.LAST_FILE),),
        ("It is written.",),
        ("All done.",),
    ]
    model = ScriptedModel(deque(answers))
    async with bench_at(place, model, story.RULES, elsewhere=True) as bench:
        return await run_of(bench, model, program(bench, story.PROMPT))


def test_opencode_sub_agent_has_a_conversation_of_its_own(tmp_path: Path) -> None:
    """A task's agent is held to the rules too, and its notes stay in its own conversation.

    The rules are those of the directory that both name in their prompts.
    """
    run = asyncio.run(live_below(tmp_path))
    story.check_end(run)
    assert run.actions() == [("typed", "interrupt"), ("quiet", "tool_reminder")]
    above, below = run.turns[-1]["conversation"], run.hits[0]["conversation"]
    assert above != below
    assert {turn["conversation"] for turn in run.turns} == {above, below}
    assert not story.reminders(run.main[-1])


def patch(id: str, head: str, *lines: str) -> Tool:  # noqa: A002 - the wire's word
    text = "\n".join(("*** Begin Patch", f"*** {head} File: {story.FILE}", *lines, "*** End Patch"))
    return Tool("apply_patch", json.dumps({"patchText": text}), id)


def added(id: str, content: str) -> Tool:  # noqa: A002 - the wire's word
    return patch(id, "Add", *(f"+{line}" for line in content.rstrip("\n").split("\n")))


def updated(id: str, old: str, new: str) -> Tool:  # noqa: A002 - the wire's word
    lines = (f"+{line}" for line in new.split("\n"))
    return patch(id, "Update", "@@", f"-{old}", *lines)


async def live_patching(place: Path) -> Run:
    model = story.model_of(added, updated)
    async with bench_at(place, model, story.RULES) as bench:
        # A name for which opencode offers `apply_patch` in place of `edit` and `write`.
        programs = [
            program(bench, *words, name="gpt-5")
            for words in ([story.PROMPT], ["--continue", story.NEXT_PROMPT])
        ]
        return await run_of(bench, model, *programs)


def test_opencode_is_held_to_the_rules_when_it_patches(tmp_path: Path) -> None:
    """What a patch adds to a file is an edit of it, with the path that the patch names."""
    run = asyncio.run(live_patching(tmp_path))
    story.check_end(run)
    story.check_actions(run, "opencode")
    story.check_reminder(run)
    story.check_prefixes(run)
    story.check_history(run)
    paths = {hit["target_path"] for hit in run.hits if hit["tool"] == "apply_patch"}
    assert paths == {story.FILE}
