"""One chunk as JSON: read without ever raising, written so that every client can read it."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from proxy.wire.openai.channel import Joiner, whole

JsonObject = dict[str, Any]

EMPTY: tuple[object, ...] = (None, "", [], {})
"""What upstreams send where they mean nothing."""

# JSON allows these raw in a string, but line readers of some clients end a line at them.
_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def parsed(data: str | None) -> Any:
    """Read any JSON value, NaN and numbers beyond reading as null; None for what is no JSON."""
    text = data or "null"
    try:
        return _strict.decode(text)
    except (ValueError, RecursionError):
        pass
    try:
        return _lenient.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def read(data: str | None) -> JsonObject | None:
    """Read the chunk that stands in an event's data, None where it is no JSON object."""
    value = parsed(data)
    return value if isinstance(value, dict) else None


def written(chunk: JsonObject) -> bytes:
    """Write one event of one `data:` line. Lone surrogate halves become U+FFFD."""
    try:
        text = json.dumps(chunk, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return b""
    return b"data: " + whole(text.translate(_LINE_ENDS)).encode() + b"\n\n"


def choices(chunk: JsonObject) -> list[JsonObject]:
    """Return the choices that are objects, whatever else stands in their place."""
    found = chunk.get("choices")
    listed = found if isinstance(found, list) else [found]
    return [choice for choice in listed if isinstance(choice, dict)]


def choice_number(choice: JsonObject) -> int:
    """Return the choice's index; 0 where it is missing or no number."""
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def failure(data: str) -> JsonObject:
    """Put an upstream's error report into the one shape that every client knows."""
    value = parsed(data)
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, dict)), None)
    report = value if isinstance(value, dict) else {"message": data}
    inside = (choice.get("error") for choice in choices(report))
    error = report.get("error") or next((found for found in inside if found), report)
    if not isinstance(error, dict):
        error = {"message": error}
    message = error.get("message") or error.get("detail") or data
    text = message if isinstance(message, str) else json.dumps(message)
    return {"error": {"type": "upstream_error", "code": None, **error, "message": text}}


class Halves:
    """Joins surrogate pairs that were cut between two pieces of one string.

    A half that nothing follows is never given out: it is no character.
    """

    def __init__(self) -> None:
        self._joiners: dict[object, Joiner] = {}

    def joined(self, key: object, piece: str) -> str:
        """Return `piece` of string `key` with the half kept before and none at its end."""
        return self._joiners.setdefault(key, Joiner()).feed(piece)


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _whole(digits: str) -> int | None:
    """Read an integer; Python refuses longer ones."""
    return int(digits) if len(digits) < _MOST_DIGITS else None


_MOST_DIGITS = 4000
_strict = msgspec.json.Decoder()
_lenient = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite, parse_int=_whole)
