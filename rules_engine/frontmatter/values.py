"""YAML 1.2 core values of a frontmatter block, with lines; the only user of a YAML library here.

Built from parser events: no tags but the core ones, no aliases, no dates, bounded depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.error import YAMLError as ParserError
from ruamel.yaml.events import (
    DocumentEndEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

DEEPEST = 32
_MOST_OPEN = 2 * DEEPEST  # on one line

Value = Any  # str | int | float | bool | None | list[Value] | dict[str, Value]

_STR_TAGS = ("tag:yaml.org,2002:str", "!")
_NULLS = ("", "~", "null", "Null", "NULL")
_BOOLS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]{1,18}|0o[0-7]{1,18}|0x[0-9a-fA-F]{1,15}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]{1,40}|[0-9]{1,40}(\.[0-9]{0,40})?)([eE][-+]?[0-9]{1,3})?")
_BRACKETS = re.compile(r"[\[\]{}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# What the parser is known to let out on hostile text besides its own errors.
_PARSER_FAULTS = (
    ParserError,
    ValueError,
    OverflowError,
    RecursionError,
    LookupError,
    TypeError,
    AttributeError,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """The value of one top-level key and the line of the key, from 0 in the block."""

    value: Value
    line: int


class YamlError(Exception):
    """The block is not what we read as YAML. `line` counts from 0 in the block."""

    def __init__(self, reason: str, line: int = 0, duplicate: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.duplicate = duplicate


def load(text: str) -> dict[str, Entry] | None:
    """Top-level keys with their values; None where the block is no mapping. Raises YamlError."""
    _refuse_open_brackets(text)
    try:
        return _document(_Events(text))
    except MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        raise YamlError(str(error.problem or error.context), line) from None
    except _PARSER_FAULTS as error:
        first, _, _ = str(error).partition("\n")
        raise YamlError(first or type(error).__name__) from None


def _refuse_open_brackets(text: str) -> None:
    """Refuse what the parser needs seconds for: it looks at all open brackets of a line again
    for each one more. Quotes do not matter: no pattern leaves so many open.
    """  # noqa: D205 - one sentence and its reason
    for number, line in enumerate(text.split("\n")):
        if line.count("[") + line.count("{") <= _MOST_OPEN:
            continue
        depths = accumulate(1 if bracket in "[{" else -1 for bracket in _BRACKETS.findall(line))
        if max(depths) > _MOST_OPEN:
            raise YamlError("nested too deeply", number)


class _Parser(YAML):
    """The library's parser without its search for plug-ins, which reads directories each time."""

    def official_plug_ins(self) -> list[str]:
        return []


class _Events:
    """Parser events with one taken at a time."""

    def __init__(self, text: str) -> None:
        yaml = _Parser(typ="safe", pure=True)
        self._events: Iterator[Event] = yaml.parse(text)

    def take(self) -> Event:
        return next(self._events)


def _document(events: _Events) -> dict[str, Entry] | None:
    events.take()
    if isinstance(events.take(), StreamEndEvent):
        return {}
    first = events.take()
    if isinstance(first, ScalarEvent) and _scalar(first) is None:
        entries: dict[str, Entry] | None = {}
    elif isinstance(first, MappingStartEvent):
        entries = dict(_pairs(events, 1))
    else:
        _value(events, first, 0)
        entries = None
    ended, last = events.take(), events.take()
    if not isinstance(ended, DocumentEndEvent) or not isinstance(last, StreamEndEvent):
        raise YamlError("more than one document", last.start_mark.line)
    return entries


def _pairs(events: _Events, depth: int) -> Iterator[tuple[str, Entry]]:
    seen: set[str] = set()
    while not isinstance(event := events.take(), MappingEndEvent):
        line = event.start_mark.line
        if not isinstance(event, ScalarEvent):
            raise YamlError("a key is not text", line)
        key = str(event.value)
        if key in seen:
            raise YamlError(f"duplicate key {key}", line, duplicate=key)
        seen.add(key)
        yield key, Entry(_value(events, events.take(), depth), line)


def _value(events: _Events, event: Event, depth: int) -> Value:
    if depth > DEEPEST:
        raise YamlError("nested too deeply", event.start_mark.line)
    match event:
        case ScalarEvent():
            return _scalar(event)
        case SequenceStartEvent():
            items: list[Value] = []
            while not isinstance(item := events.take(), SequenceEndEvent):
                items.append(_value(events, item, depth + 1))
            return items
        case MappingStartEvent():
            return {key: entry.value for key, entry in _pairs(events, depth + 1)}
        case _:
            raise YamlError("aliases (a value that begins with *) are not read", _line(event))


def _line(event: Event) -> int:
    return int(event.start_mark.line)


def _scalar(event: ScalarEvent) -> Value:
    text = str(event.value)
    if _SURROGATE.search(text):
        raise YamlError("half of a surrogate pair is no text", _line(event))
    if event.tag is not None:
        if str(event.tag) not in _STR_TAGS:
            raise YamlError(f"tag {event.tag} is not read", _line(event))
        return text
    plain = bool(event.implicit[0])
    return _resolved(text) if plain else text


def _resolved(text: str) -> Value:
    """Resolve a plain scalar under the core schema; numbers of absurd length stay text."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INT.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text[2:] if base != 10 else text, base)  # noqa: PLR2004 - decimal
    return float(text) if _FLOAT.fullmatch(text) else text
