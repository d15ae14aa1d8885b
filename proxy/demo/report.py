"""The demo's words: what happened, as plain text without ports, times or random ids."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from proxy.demo.script import Said

_WIDTH = 96
_LABEL = 15

_WRAP = textwrap.TextWrapper(
    _WIDTH - _LABEL - 2,
    replace_whitespace=False,
    drop_whitespace=True,
    break_on_hyphens=False,
    break_long_words=False,
)

JsonObject = dict[str, Any]


def opening(rules: Iterable[JsonObject]) -> str:
    """Which rules are in force."""
    lines = ["An agent talks to a scripted model through the proxy. Three rules are in force:", ""]
    lines += [f"  {rule['name']:<14}{rule['description']}" for rule in rules]
    return "\n".join(lines)


def request(number: int, words: str, *, result: bool) -> str:
    """What the agent sends."""
    what = "the result of the call" if result else "the user's words"
    return f"\nRequest {number}\n" + _entry("agent sends", f"{what}: {words}")


def wanted(said: Said) -> str:
    """What the model wanted to say."""
    return _entry("model wants", _spoken(said.text, said.tool, said.arguments))


def note(message: JsonObject, how: str) -> str:
    """What the model was told in front of the next attempt."""
    return _entry(how, str(message["content"]))


def got(message: JsonObject) -> str:
    """What the client got."""
    calls = message.get("tool_calls") or [{"function": {"name": "", "arguments": ""}}]
    function = calls[0]["function"]
    return _entry(
        "client gets", _spoken(message["content"] or "", function["name"], function["arguments"])
    )


def reminded(content: str, number: int) -> str:
    """A call's result as the model got it."""
    return _entry(
        "model reads", f"as the result of the first call, in request {number}:\n{content}"
    )


def audit(hits: Sequence[JsonObject]) -> str:
    """The audit's rows, oldest first."""
    lines = ["\nAudit", _row("rule", "action", "surface", "tool", "file", "attempt")]
    for hit in hits:
        tool, path = hit["tool"] or "-", hit["target_path"] or "-"
        attempt = str(hit["attempt"])
        lines.append(_row(hit["rule"], hit["action"], hit["surface"], tool, path, attempt))
    return "\n".join(lines)


def _row(*cells: str) -> str:
    widths = (14, 15, 9, 7, 14, 0)
    return "  " + "".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))


def _spoken(text: str, tool: str, arguments: str) -> str:
    call = f"{tool} {_readable(arguments)}" if tool else ""
    return "\n".join(part for part in (text, call) if part)


def _readable(arguments: str) -> str:
    values = json.loads(arguments)
    source = values.get("content") or values.get("newText") or ""
    return f"{values['path']}: {source.strip()}"


def _entry(label: str, text: str) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        lines += _WRAP.wrap(line) or [""]
    first = f"  {label:<{_LABEL}}{lines[0]}"
    rest = (f"  {'':<{_LABEL}}{line}".rstrip() for line in lines[1:])
    return "\n".join([first, *rest])
