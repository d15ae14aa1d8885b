"""Key-by-key reading of a block that is not valid YAML, so that one bad value spoils only itself.

Each top-level key's lines are read as YAML alone; what is still unreadable is taken as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from rules_engine.frontmatter.values import Entry, Value, YamlError, load
from rules_engine.globs import split_commas, unquoted

MOST_KEYS = 200
MOST_ITEMS = 400

_KEY = re.compile(r"([A-Za-z_][\w-]*)[ ]*:(?:[ ]+(.*))?$")
_ITEM = re.compile(r"[ ]*-[ ]+(.*)$")
_PART = r"""(?:"[^"]*"\s*|'[^']*'\s*|\*[^,"']*)"""
_PARTS = re.compile(rf"\s*{_PART}(?:,\s*{_PART})*(?:,\s*)?")


def recover(text: str) -> dict[str, Entry]:
    """Every `key: value` of the block; of a key that stands there twice, the last."""
    chunks = islice(_chunks(text.replace("\t", "  ")), MOST_KEYS)
    return {key: Entry(_chunk_value(key, rows), line) for key, line, rows in chunks}


class _Brackets:
    """Whether brackets outside quotes are still open in the rows so far."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""

    def feed(self, row: str) -> None:
        for char in row:
            if self._quote:
                self._quote = "" if char == self._quote else self._quote
            elif char in "\"'":
                self._quote = char
            elif char in "[{(":
                self._depth += 1
            elif char in "]})":
                self._depth -= 1

    @property
    def open(self) -> bool:
        return self._depth > 0


def _chunks(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """Give a key, its line and its rows: the first without the key, then what continues it."""
    key, line, rows, brackets = "", 0, [""], _Brackets()
    for number, row in enumerate(text.split("\n")):
        match = _KEY.match(row)
        if match:
            if key:
                yield key, line, rows
            key, line, rows, brackets = match[1], number, [match[2] or ""], _Brackets()
            brackets.feed(rows[0])
        elif brackets.open or _continues(row):
            rows.append(row)
            brackets.feed(row)
    if key:
        yield key, line, rows


def _continues(row: str) -> bool:
    """Indented, blank, or a list item."""
    return not row.strip() or row[0] == " " or _ITEM.match(row) is not None


def _opens(text: str) -> bool:
    brackets = _Brackets()
    brackets.feed(text)
    return brackets.open


def _chunk_value(key: str, rows: list[str]) -> Value:
    try:
        entries = load(f"{key}: " + "\n".join(rows))
    except YamlError:
        entries = None
    if entries and key in entries:
        return entries[key].value
    first = rows[0].strip()
    items = [match[1] for row in rows[1:] if (match := _ITEM.match(row))]
    if not first and items:
        return [_single(item) for item in items[:MOST_ITEMS]]
    if first[:1] in ("|", ">"):
        return "\n".join(row.strip() for row in rows[1:]).strip()
    return _single(" ".join(row.strip() for row in rows) if _opens(first) else first)


def _single(raw: str) -> Value:
    """One value alone as YAML if it is a scalar or a list, else its text without paired quotes."""
    try:
        entries = load(f"value: {raw}")
    except YamlError:
        entries = None
    value = entries["value"].value if entries and "value" in entries else None
    if value is not None and not isinstance(value, dict):
        return value
    bare = raw.strip()
    return _raw_list(bare) or unquoted(bare)


def _raw_list(text: str) -> list[str]:
    r"""Split `"a", "b"` or `["\d", *.ts]`: parts all quoted, or beginning with a star."""
    bracketed = text.startswith("[") and text.endswith("]")
    inner = text[1:-1] if bracketed else text
    parts = split_commas(inner) if _PARTS.fullmatch(inner) else ()
    return list(parts) if parts and (bracketed or len(parts) > 1) else []
