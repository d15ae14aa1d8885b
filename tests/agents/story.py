"""The story that every agent with tools lives through, and what must be true of it afterwards.

The model speaks badly, writes badly, writes well with a blemish, edits badly, edits well, ends.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence

from tests.agents.lab import Answer, Asked, JsonObject, Run, ScriptedModel, joined
from tests.support.chat import Tool
from tests.support.rules import rule_text

PROMPT = "Write src/rates.ts."
NEXT_PROMPT = "What is left?"
FILE = "src/rates.ts"
CODE = ["tool:edit(*.ts)", "tool:write(*.ts)"]
RULES = {
    "plain": rule_text("Speak plainly.", condition="FORBIDDEN", scope="text"),
    "typed": rule_text("Name the type.", condition=r": any\b", scope=CODE),
    "quiet": rule_text(
        "Leave no print behind.", condition=r"console\.log", scope=CODE, interruptMode="never"
    ),
}

BAD_FILE = "export const twice = (n: any) => {\n  return n;\n};\n"
GOOD_FILE = "export const twice = (n: number) => {\n  console.log(n);\n  return n;\n};\n"
OLD_LINE = "  return n;"
BAD_LINE = "  const m: any = n;\n  return m;"
GOOD_LINE = "  return 2 * n;"
LAST_FILE = GOOD_FILE.replace(OLD_LINE, GOOD_LINE)

IDS = ("call_Hq7ZkTw2", "call_pX4vNd8s", "call_Lm9RbYc3", "call_Ew5JtGa6")
ENDS: Sequence[Answer] = (("All done.",), ("Nothing is left.",))

Write = Callable[[str, str], Tool]
Edit = Callable[[str, str, str], Tool]


def model_of(write: Write, edit: Edit, ends: Sequence[Answer] = ENDS) -> ScriptedModel:
    """Script the story with the agent's own tools: `write(id, content)`, `edit(id, old, new)`."""
    answers: list[Answer] = [
        ("I use ", "FORBIDDEN", " words."),
        ("I write the file.", write(IDS[0], BAD_FILE)),
        (write(IDS[1], GOOD_FILE),),
        ("Now the line.", edit(IDS[2], OLD_LINE, BAD_LINE)),
        (edit(IDS[3], OLD_LINE, GOOD_LINE),),
        *ends,
    ]
    return ScriptedModel(deque(answers), title="FORBIDDEN title")


def compacted(write: Write, ends: Sequence[Answer]) -> ScriptedModel:
    """Script a conversation that is compacted in its middle."""
    answers: list[Answer] = [
        ("I use ", "FORBIDDEN", " words."),
        ("I write the file.", write(IDS[1], LAST_FILE)),
        *ends,
    ]
    return ScriptedModel(deque(answers), title="FORBIDDEN summary", full_at=1)


def check_end(run: Run) -> None:
    """The agent came to its end through the whole script, with only good content on the disk."""
    assert run.status == 0, run.output
    assert (len(run.main), run.unsaid) == (run.scripted, 0), run.output
    assert run.file(FILE) == LAST_FILE
    assert {turn["outcome"] for turn in run.turns} == {"completed"}


def check_actions(run: Run, agent: str, *, bad_write: str = "interrupt") -> None:
    """Each rule acted once on its own surface; who asked was recognised in every turn.

    bad_write: what becomes of the first bad write: cut, unless only the call's end decides it.
    """
    acted = [pair for pair in run.actions() if pair[1] != "observed"]
    assert acted == [
        ("plain", "interrupt"),
        ("typed", bad_write),
        ("quiet", "tool_reminder"),
        ("typed", "refuse"),
    ]
    assert {row["agent"] for row in (*run.hits, *run.turns)} == {agent}


def reminders(asked: Asked) -> list[bytes]:
    """The tool results that hold a reminder, byte for byte."""
    return [
        raw
        for raw, message in zip(asked.raw, asked.messages, strict=True)
        if message["role"] == "tool" and "<system-reminder" in joined(message["content"])
    ]


def check_reminder(run: Run) -> None:
    """The reminder stands in front of the result of its call, the same in every later request."""
    first, *later = [reminders(asked) for asked in run.main[3:]]
    assert len(first) == 1
    assert b"Leave no print behind." in first[0]
    assert IDS[1].encode() in first[0]
    assert all(one == first for one in later)


def check_prefixes(run: Run, *, restarted_at: int = 0, own: int = 0) -> None:
    """Every request begins with the one before it, notes included, byte for byte.

    own: messages at the front that the agent itself writes anew when it is started again, which
    is before request `restarted_at`.
    """
    for number, (before, after) in enumerate(itertools.pairwise(run.main), 1):
        skipped = own if number == restarted_at else 0
        assert after.raw[skipped : len(before.raw)] == before.raw[skipped:]


def check_history(run: Run) -> None:
    """The last request tells the model the whole story, and nothing of it twice."""
    last = run.main[-1].messages
    said = [joined(m.get("content")) for m in last if m["role"] == "assistant"]
    told = "\n".join(joined(m.get("content")) for m in last)
    assert sum("FORBIDDEN" in text for text in said) == 1
    assert sum("I write the file." in text for text in said) == 1
    for body in ("Speak plainly.", "Leave no print behind."):
        assert told.count(body) == 1
    assert told.count("Name the type.") == 2
    assert_called_and_answered(last)


def assert_called_and_answered(messages: list[JsonObject]) -> None:
    """Every call has its result behind it, and every result its call."""
    calls = [call["id"] for m in messages for call in m.get("tool_calls") or ()]
    results = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert calls == results
