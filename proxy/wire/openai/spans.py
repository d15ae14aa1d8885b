"""Where the values of a JSON text stand, so that single ones can be exchanged; pure.

Works on bytes that have been read as JSON before, and keeps what no parser would: spacing of
values, number formats, escapes, duplicate keys.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from proxy.wire.openai.tolerant import read_json

# A string is taken as one token, so that brackets in it do not count.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]', re.DOTALL)
_BLANK = b" \t\r\n"
_OPENERS = b"{["
_CLOSERS = b"}]"
_ENDS = b",}]"
_LEVELS = 2

Span = tuple[int, int]


def _trimmed(data: bytes, start: int, end: int) -> Span:
    """Leave the white space around a value out."""
    kept = data[start:end]
    left = len(kept) - len(kept.lstrip(_BLANK))
    return start + left, start + left + len(kept.strip(_BLANK))


def outline(data: bytes, start: int = 0) -> tuple[list[Span], dict[int, list[Span]]]:
    """Answer with the spans of a container's elements, and of those of its direct inner ones.

    An object's elements are its `key: value` members. The inner ones are keyed by where their
    bracket stands, so that one pass over a large body finds the messages in it. `start`: at or
    before the opening bracket. Raises ValueError where there is none.
    """
    levels: list[list[Span]] = [[], []]
    inner: dict[int, list[Span]] = {}
    begins = [0, 0]
    depth = 0
    for token in _TOKEN.finditer(data, start):
        kind = token[0]
        if kind in _OPENERS:
            depth += 1
            if depth <= _LEVELS:
                begins[depth - 1] = token.end()
            if depth == _LEVELS:
                levels[1] = inner[token.start()] = []
            continue
        if 0 < depth <= _LEVELS and kind in _ENDS:
            span = _trimmed(data, begins[depth - 1], token.start())
            begins[depth - 1] = token.end()
            if span[0] < span[1]:
                levels[depth - 1].append(span)
        depth -= kind in _CLOSERS
        if depth <= 0:
            break
    if depth or not begins[0]:
        raise ValueError("no array or object stands here")
    return levels[0], inner


def elements(data: bytes, start: int = 0) -> list[Span]:
    """Answer with the spans of a container's elements; raises ValueError as `outline` does."""
    return outline(data, start)[0]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object: its key as read, and where key and value stand."""

    key: str
    quoted: Span
    value: Span


def member(data: bytes, span: Span) -> Member:
    """Read the key of a member that stands at `span`; raises ValueError where there is none."""
    quoted = _TOKEN.match(data, span[0])
    colon = _TOKEN.search(data, quoted.end()) if quoted else None
    if quoted is None or colon is None or colon[0] != b":":
        raise ValueError("no object stands here")
    key = read_json(quoted[0])
    value = _trimmed(data, colon.end(), span[1])
    return Member(key if isinstance(key, str) else "", quoted.span(), value)


def members(data: bytes) -> list[Member]:
    """Answer with an object's members in their order, duplicates included.

    Raises ValueError where there is no object.
    """
    return [member(data, span) for span in elements(data)]


def value_of(data: bytes, key: str) -> tuple[Span, list[Span] | None]:
    """Answer with where an object's value stands, and its elements where it is a container.

    Of duplicate keys the last one counts. Raises ValueError where there is none.
    """
    outer, inner = outline(data)
    found = [each.value for each in (member(data, span) for span in outer) if each.key == key]
    if not found:
        raise ValueError(f"the object has no {key}")
    return found[-1], inner.get(found[-1][0])


class RawObject:
    """A JSON object whose values are kept as bytes; only those that are set are new."""

    __slots__ = ("_members",)

    def __init__(self, data: bytes) -> None:
        self._members: list[tuple[str, bytes, bytes]] = [
            (m.key, data[slice(*m.quoted)], data[slice(*m.value)]) for m in members(data)
        ]

    def __contains__(self, key: str) -> bool:
        return any(known == key for known, _, _ in self._members)

    def get(self, key: str) -> bytes:
        """Answer with a value's bytes: the last one under that key, empty where there is none."""
        return next((raw for known, _, raw in reversed(self._members) if known == key), b"")

    def read(self, key: str) -> object:
        """Answer with a value as read; None where there is none."""
        raw = self.get(key)
        return read_json(raw) if raw else None

    def set(self, key: str, raw: bytes) -> None:
        """Exchange the last value under `key`, or add one behind all others."""
        for at in range(len(self._members) - 1, -1, -1):
            known, quoted, _ = self._members[at]
            if known == key:
                self._members[at] = (known, quoted, raw)
                return
        self._members.append((key, json.dumps(key).encode(), raw))

    def items(self) -> list[tuple[str, bytes]]:
        """Answer with keys and values in their order."""
        return [(key, raw) for key, _, raw in self._members]

    def render(self) -> bytes:
        """Write the object, without white space between its members."""
        return b"{" + b",".join(quoted + b":" + raw for _, quoted, raw in self._members) + b"}"


def render_array(values: list[bytes]) -> bytes:
    """Write an array of values that are JSON already."""
    return b"[" + b",".join(values) + b"]"
