"""What a client got, and what of it a user would see."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Shown:
    """What an answer says. `errors`: the codes of error events, `error` where there is none."""

    text: str
    arguments: str
    reasons: tuple[str, ...]
    ids: frozenset[str]
    errors: tuple[str, ...]
    done: bool


@dataclass(slots=True)
class _Reading:
    text: str = ""
    arguments: str = ""
    reasons: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    done: bool = False

    def add(self, document: dict[str, Any]) -> None:
        """One event, or a whole answer."""
        if "error" in document:
            self.errors.append(str(document["error"].get("code") or "error"))
            return
        self.ids.add(document["id"])
        for choice in document["choices"]:
            said = choice.get("delta") or choice.get("message") or {}
            self.text += said.get("content") or ""
            for call in said.get("tool_calls") or ():
                self.arguments += call["function"].get("arguments") or ""
            if choice.get("finish_reason"):
                self.reasons.append(choice["finish_reason"])

    def shown(self) -> Shown:
        """All of it."""
        return Shown(
            self.text,
            self.arguments,
            tuple(self.reasons),
            frozenset(self.ids),
            tuple(self.errors),
            self.done,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and body; `cut`: the connection ended before the body did."""

    status: int
    body: bytes
    cut: bool = False

    def shown(self, *, streamed: bool) -> Shown | str:
        """What it says, or what is wrong with its form."""
        reading = _Reading()
        try:
            if not streamed:
                reading.add(json.loads(self.body))
                return reading.shown()
            for event in self.body.decode().split("\n\n")[:-1]:
                if fault := _read_event(reading, event):
                    return fault
        except (ValueError, KeyError, TypeError) as problem:
            return f"unreadable ({problem!r}): {self.body[-400:]!r}"
        return reading.shown()


def _read_event(reading: _Reading, event: str) -> str | None:
    for line in event.split("\n"):
        if line == "data: [DONE]":
            reading.done = True
        elif line.startswith("data: ") and not reading.done:
            reading.add(json.loads(line[6:]))
        elif not line.startswith(":"):
            return f"not an event: {line[:200]!r}"
    return None
