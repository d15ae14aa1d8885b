"""What the demo's model says, answer by answer, and what the demo's agent asks.

The model does not learn: it plays these answers in order, whatever it is told. A real one is
told the rule and writes the better answer by itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """One answer: text, then perhaps a call of `tool` with `arguments`."""

    text: str = ""
    tool: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of the agent: a user's words, or the result of the last call.

    `answers`: what the model says to it, attempt by attempt.
    """

    words: str
    answers: tuple[Said, ...]


def _write(path: str, source: str, *, text: str = "") -> Said:
    return Said(text, "write", json.dumps({"path": path, "content": source}))


def _edit(path: str, old: str, new: str) -> Said:
    return Said("", "edit", json.dumps({"path": path, "oldText": old, "newText": new}))


_HELPER = "export function total(prices: number[]) {\n  console.log(prices);\n  return 0;\n}\n"
_ANY = "export function total(prices: any) {"
_NUMBERS = "export function total(prices: readonly number[]) {"

STORY = (
    Asked(
        "Write src/price.ts with a function that adds up prices.",
        (
            Said("I write the helper. All tests pass, so we can merge."),
            _write(
                "src/price.ts", _HELPER, text="Nothing was run yet, so nothing is said of tests."
            ),
        ),
    ),
    Asked(
        "ok, 4 lines written",
        (
            _edit("src/price.ts", "prices: number[]", _ANY),
            _edit("src/price.ts", "prices: number[]", _NUMBERS),
        ),
    ),
    Asked(
        "ok, 1 line changed",
        (
            _write("src/tax.ts", "export function tax(price: any) {\n  return price * 0.2;\n}\n"),
            Said("src/price.ts is done. Shall I write src/tax.ts as well?"),
        ),
    ),
)
