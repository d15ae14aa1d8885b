"""Made-up requests of coding agents: long conversations of calls, results and some text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

SENTENCE = (
    "the value of this is a list and that would not fail in for with function return const let "
    "name string number of items we can then use it here import export class type"
)
WORDS = SENTENCE.split()
TOOLS = ("read", "edit", "write", "bash", "glob", "grep", "list", "task", "todowrite", "webfetch")
PROMPT = 15_000  # characters of a system prompt
ASKED = 800  # characters that a user writes
TOLD = (100, 500)  # characters that a model says before it calls a tool
REST = 60_000  # bytes that are no calls and results: prompt, tools, what is said


def body(messages: int, size: int, seed: int = 1, *, escaped: bool = False) -> bytes:
    """A streaming request of about `size` bytes.

    `escaped`: in ASCII, as Python's clients write it, and with a character that was cut in half.
    """
    rng = Random(seed)
    spoken: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a coding agent.\n" + text(rng, PROMPT)},
        {"role": "user", "content": [{"type": "text", "text": text(rng, ASKED)}]},
    ]
    rounds = (messages - len(spoken)) // 2
    for number in range(rounds):
        spoken += exchange(rng, number, (size - REST) // rounds)
    if escaped:
        spoken[-1]["content"] += "\ud83d"
    return json.dumps(
        {
            "model": "made-up",
            "messages": spoken,
            "tools": [declared(rng, name) for name in TOOLS],
            "stream": True,
            "stream_options": {"include_usage": True},
        },
        separators=(",", ":"),
        ensure_ascii=escaped,
    ).encode()


def with_images(count: int, size: int) -> bytes:
    """A request that holds `count` pictures of `size` bytes each, as base64."""
    rng = Random(1)
    picture = "data:image/png;base64," + rng.randbytes(size * 3 // 8).hex()
    content = [{"type": "text", "text": "Look."}]
    shown: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": picture}}]
    messages: list[dict[str, Any]] = []
    for _ in range(count):
        messages += [
            {"role": "user", "content": content + shown},
            {"role": "assistant", "content": "I see. " + text(rng, 200)},
        ]
    messages.append({"role": "user", "content": "Go on."})
    return json.dumps({"model": "made-up", "messages": messages, "stream": True}).encode()


def exchange(rng: Random, number: int, size: int) -> Iterator[dict[str, Any]]:
    """An assistant message with a call, and its result; one of three calls is an edit."""
    path = f"/home/user/project/src/{rng.choice(WORDS)}.ts"
    arguments: dict[str, object] = {"filePath": path, "offset": rng.randint(0, 999), "limit": 200}
    name, result = "read", text(rng, size * 9 // 8)
    if number % 3 == 0:
        old, new = text(rng, size * 3 // 10), text(rng, size * 4 // 10)
        arguments = {"filePath": path, "oldString": old, "newString": new}
        name, result = "edit", "The edit was applied."
    call_id = f"call_{rng.getrandbits(96):024x}"
    written = json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
    function = {"name": name, "arguments": written}
    yield {
        "role": "assistant",
        "content": text(rng, rng.randint(*TOLD)),
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }
    yield {"role": "tool", "tool_call_id": call_id, "content": result}


def declared(rng: Random, name: str) -> dict[str, Any]:
    """A tool as agents declare it."""
    properties = {
        key: {"type": "string", "description": text(rng, 100)}
        for key in ("filePath", "oldString", "newString")
    }
    parameters = {"type": "object", "properties": properties}
    function = {"name": name, "description": text(rng, 1500), "parameters": parameters}
    return {"type": "function", "function": function}


def text(rng: Random, size: int) -> str:
    """Lines like those of source files."""
    lines: list[str] = []
    have = 0
    while have < size:
        lines.append(line(rng))
        have += len(lines[-1]) + 1
    return "\n".join(lines)


def line(rng: Random) -> str:
    words = rng.choices(WORDS, k=rng.randint(6, 12))
    blank = " " * 4 * rng.randint(0, 4)
    shapes = (
        f'{words[0]}.{words[1]}("{" ".join(words[2:5])}", {rng.randint(0, 9999)});',
        f'if ({words[0]} === "{words[1]}") {{ return {words[0]}[{rng.randint(0, 9)}]; }}',
        f"// {' '.join(words)} \u2192 \u00e9",
        f"\t{words[0]}: {{ '{words[1]}': {rng.random():.4f} }},",
        " ".join(words),
        " ".join(words[:6]),
    )
    return blank + rng.choice(shapes)
