"""JSON as it is met rather than as it should be: read without raising, written so it encodes."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from proxy.wire.openai.channel import whole

_ESCAPED_SURROGATES = re.compile(
    rb"\\u[dD](?:[89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|[89a-fA-F][\da-fA-F]{2})"
)
_PAIR = 12  # bytes of two escapes
_REPLACEMENT = b"\\ufffd"  # as long as what it replaces
_BACKSLASH = 0x5C


class NotJson:
    """The mark that a text is no JSON document (None is one)."""


NOT_JSON = NotJson()
_strict = msgspec.json.Decoder()


def _number(digits: str) -> int | float:
    """Python refuses integers of more than 4,300 digits; a float of that size is infinite."""
    return int(digits) if len(digits) < 4000 else float(digits)  # noqa: PLR2004 - said above


_lenient = json.JSONDecoder(parse_int=_number)


def read_json(text: str | bytes) -> Any:
    """Read JSON that may hold NaN, lone surrogates, invalid bytes and duplicate keys.

    Of duplicate keys the last one counts, and invalid bytes become U+FFFD.
    Answers `NOT_JSON` where there is none, or where it is nested beyond what can be read.
    """
    try:
        return _strict.decode(text)
    except (ValueError, RecursionError):
        pass
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        return _lenient.decode(text)
    except (ValueError, RecursionError):
        return NOT_JSON


def with_whole_characters(body: bytes) -> bytes:
    """Replace escapes of lone surrogates, which strict readers refuse, by one of equal length.

    Clients that cut a text in the middle of a character send them for the conversation's rest.
    """
    return _ESCAPED_SURROGATES.sub(_whole_character, body)


def _whole_character(found: re.Match[bytes]) -> bytes:
    data, start = found.string, found.start()
    before = start
    while before and data[before - 1] == _BACKSLASH:
        before -= 1
    is_text = (start - before) % 2 == 1  # the backslash itself is escaped
    return found[0] if is_text or len(found[0]) == _PAIR else _REPLACEMENT


def write_json(value: Any) -> str:
    """Write compactly; lone surrogates become U+FFFD, so that the text can be encoded."""
    try:
        return whole(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        return ""


def quoted(text: str) -> bytes:
    """Write a JSON string; a lone surrogate of the client's stays what it was, as an escape."""
    try:
        return json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(text).encode()


def objects(value: Any) -> list[dict[str, Any]]:
    """Give the objects of a list; whatever else stands in it, or instead of it, is none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
