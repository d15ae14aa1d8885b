"""One reader a kind of field value: what is accepted, and the problem of what is not."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from rules_engine.frontmatter.values import Entry, Value
from rules_engine.problems import Code, Problem

KNOWN = (
    "name",
    "enabled",
    "description",
    "alwaysApply",
    "globs",
    "condition",
    "ttsr_trigger",
    "ttsrTrigger",
    "astCondition",
    "question",
    "scope",
    "agents",
    "interruptMode",
    "contextMode",
    "repeatMode",
    "repeatGap",
    "reminder",
    "applyTo",
    "paths",
)

_Choice = TypeVar("_Choice", bound=StrEnum)


class Fields:
    """The frontmatter of one file by camel-case key; collects problems as it is read."""

    def __init__(self, entries: Mapping[str, Entry], file: str, first_line: int) -> None:
        self._file = file
        self._first_line = first_line
        self._entries: dict[str, Entry] = {}
        self.problems: list[Problem] = []
        for key, entry in entries.items():
            self._add(camel(key), entry)

    def _add(self, key: str, entry: Entry) -> None:
        self._entries[key] = entry
        near = () if key in KNOWN else get_close_matches(key, KNOWN, n=1, cutoff=0.8)
        if near:
            self.report(Code.UNKNOWN_KEY, key, key, allowed=f"did you mean {near[0]}?")

    def report(
        self, code: Code, field: str, found: object = "", allowed: str = "", detail: str = ""
    ) -> None:
        """Note a problem at the field's line."""
        line = self.line(field)
        self.problems.append(Problem(code, self._file, field, line, str(found), allowed, detail))

    def has(self, field: str) -> bool:
        """Whether the field is there with a value other than null."""
        return self.value(field) is not None

    def value(self, field: str) -> Value:
        """Give the field's value as YAML gave it, None where it is absent."""
        entry = self._entries.get(field)
        return None if entry is None else entry.value

    def line(self, field: str) -> int | None:
        """Give the field's line in the file, from 1."""
        entry = self._entries.get(field)
        return None if entry is None else self._first_line + entry.line

    def lines(self) -> Mapping[str, int]:
        """Give the line of every field that is there."""
        return {key: self._first_line + entry.line for key, entry in self._entries.items()}

    def text(self, field: str) -> str | None:
        """Give a string as written; None for a blank or missing one."""
        value = self.value(field)
        if value is not None and not isinstance(value, str):
            self.report(Code.WRONG_TYPE, field, value, "text")
            return None
        return value if value and value.strip() else None

    def flag(self, field: str, *, default: bool) -> bool:
        """Only a YAML boolean counts; its text form does not, and is reported."""
        value = self.value(field)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.report(Code.BAD_VALUE, field, value, "true or false, unquoted")
        return default

    def strings(self, field: str) -> tuple[str, ...] | str | None:
        """Give a string, or the strings of a list; None where the field is absent or neither."""
        value = self.value(field)
        if value is None or isinstance(value, str):
            return value
        if not isinstance(value, list):
            self.report(Code.WRONG_TYPE, field, value, "text or a list of texts")
            return None
        for item in value:
            if not isinstance(item, str):
                self.report(Code.WRONG_TYPE, field, item, "text")
        return tuple(item for item in value if isinstance(item, str))

    def choice(self, field: str, kind: type[_Choice], code: Code) -> _Choice | None:
        """One of a closed set, trimmed and in any case."""
        value = self.value(field)
        if value is None:
            return None
        written = value.strip().lower() if isinstance(value, str) else value
        for member in kind:
            if member.value == written:
                return member
        self.report(code, field, value, ", ".join(kind))
        return None

    def count(self, field: str) -> int | None:
        """Give a whole number from 1."""
        value = self.value(field)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
        self.report(Code.BAD_VALUE, field, value, "a whole number from 1")
        return None


def camel(key: str) -> str:
    """`ast-condition` as `astCondition`; underscores stay."""
    head, *rest = key.split("-")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)
