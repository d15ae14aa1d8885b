"""Closed vocabulary of what can be wrong with a rule: code, file, line, field, found, allowed.

Codes are for programs; the sentences that a person reads are made here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

SHOWN = 100


class Severity(StrEnum):
    """`error`: part of the rule is not in force. `warning`: read differently than it looks."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(StrEnum):
    """Everything that can be wrong with a rule or its file."""

    UNREADABLE = "unreadable"
    BAD_LINK = "bad-link"
    BAD_NAME = "bad-name"
    TOO_LARGE = "too-large"
    TOO_MANY = "too-many"
    BINARY = "binary"
    BAD_UTF8 = "bad-utf8"
    EMPTY_BODY = "empty-body"
    SWITCHED_OFF = "switched-off"
    UNCLOSED_FRONTMATTER = "unclosed-frontmatter"
    NOT_A_MAPPING = "not-a-mapping"
    BAD_YAML = "bad-yaml"
    DUPLICATE_KEY = "duplicate-key"
    UNKNOWN_KEY = "unknown-key"
    WRONG_TYPE = "wrong-type"
    BAD_VALUE = "bad-value"
    BAD_INTERRUPT_MODE = "bad-interrupt-mode"
    BAD_REMINDER = "bad-reminder"
    BAD_GLOB = "bad-glob"
    BAD_SCOPE = "bad-scope"
    UNREACHABLE_SCOPE = "unreachable-scope"
    GLOBS_WITHOUT_TOOL = "globs-without-tool"
    GLOB_CONDITION = "glob-condition"
    MISSING_APPLY_TO = "missing-apply-to"
    BAD_PATTERN = "bad-pattern"
    MATCHES_EMPTY = "matches-empty"
    PATTERN_NOTE = "pattern-note"
    STRUCTURE_WITHOUT_TOOL = "structure-without-tool"
    UNSUPPORTED_TRIGGER = "unsupported-trigger"
    BAD_OVERRIDE = "bad-override"


@dataclass(frozen=True, slots=True)
class Fault:
    """What a code means: how bad it is, what was found to be wrong, and the next step."""

    severity: Severity
    says: str
    advice: str


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

FAULTS: Mapping[Code, Fault] = MappingProxyType(
    {
        Code.UNREADABLE: Fault(
            _E, "the file cannot be read and was skipped", "check that it exists and its mode"
        ),
        Code.BAD_LINK: Fault(
            _E,
            "the link leaves the rule directories or loops and was not followed",
            "put the file itself here",
        ),
        Code.BAD_NAME: Fault(
            _E, "the file's name is not valid UTF-8 and was skipped", "rename the file"
        ),
        Code.TOO_LARGE: Fault(_E, "the file is too large for a rule", "shorten it or split it"),
        Code.TOO_MANY: Fault(
            _E, "the directory holds too many files; the rest was skipped", "split the directory"
        ),
        Code.BINARY: Fault(
            _E, "the file holds NUL characters, so it is no text", "save it as UTF-8 text"
        ),
        Code.BAD_UTF8: Fault(
            _W, "bytes that are not UTF-8 were replaced", "save the file as UTF-8"
        ),
        Code.EMPTY_BODY: Fault(
            _E,
            "there is no text below the frontmatter, so this is no rule",
            "write the advice that the model should get",
        ),
        Code.SWITCHED_OFF: Fault(
            _N, "the rule is switched off by its own file", "remove `enabled: false` to use it"
        ),
        Code.UNCLOSED_FRONTMATTER: Fault(
            _W,
            "the frontmatter is opened and never closed, so all of it is text",
            "close it with a line `---`",
        ),
        Code.NOT_A_MAPPING: Fault(
            _W, "the frontmatter holds no keys and was ignored", "write it as `key: value` lines"
        ),
        Code.BAD_YAML: Fault(
            _W,
            "the frontmatter is not valid YAML and was recovered key by key",
            "quote the value; use single quotes for a pattern",
        ),
        Code.DUPLICATE_KEY: Fault(
            _E,
            "the key stands here twice; the last one is used",
            "remove one of them, or write both values as one list where the key takes one",
        ),
        Code.UNKNOWN_KEY: Fault(_W, "the key has no meaning here", "check its spelling"),
        Code.WRONG_TYPE: Fault(
            _W,
            "the value is of the wrong type and was ignored",
            "write it in an allowed form; put a number, a date or `true` in quotes",
        ),
        Code.BAD_VALUE: Fault(
            _W, "the value is not one of those allowed and was ignored", "write an allowed one"
        ),
        Code.BAD_INTERRUPT_MODE: Fault(
            _E, "the mode is not known, so the rule never interrupts", "write an allowed one"
        ),
        Code.BAD_REMINDER: Fault(
            _W, "the reminder is blank or too long, so the body is used", "shorten it"
        ),
        Code.BAD_GLOB: Fault(
            _E,
            "the glob is malformed and matches nothing",
            "balance its brackets and braces; a leading `!` has no meaning here",
        ),
        Code.BAD_SCOPE: Fault(
            _E,
            "the scope token is malformed and was ignored",
            "write `text`, `thinking`, `tool`, `tool:name` or `tool:name(glob)`",
        ),
        Code.UNREACHABLE_SCOPE: Fault(
            _E, "no scope token is valid, so the rule watches nothing", "correct or remove `scope`"
        ),
        Code.GLOBS_WITHOUT_TOOL: Fault(
            _E,
            "the rule has globs and watches prose only; prose has no path, so it never fires",
            "add `tool` to `scope` or remove `globs`",
        ),
        Code.GLOB_CONDITION: Fault(
            _N,
            "the condition looks like a path, so every edit and write of such files is a hit",
            "use `scope` or `globs` for paths and `condition` for a pattern",
        ),
        Code.MISSING_APPLY_TO: Fault(
            _W, "`applyTo` is missing, so the rule is only offered by name", "add `applyTo`"
        ),
        Code.BAD_PATTERN: Fault(
            _E, "the pattern cannot be used and was ignored", "correct the pattern"
        ),
        Code.MATCHES_EMPTY: Fault(
            _E,
            "the pattern matches the empty text, so it would hit always; it was ignored",
            "let it need one character at least",
        ),
        Code.PATTERN_NOTE: Fault(
            _N, "the pattern is used with a remark", "nothing, if that is meant"
        ),
        Code.STRUCTURE_WITHOUT_TOOL: Fault(
            _E,
            "structures are searched in the source of tool calls, of which the scope names none",
            "add `tool` to `scope` or remove `astCondition`",
        ),
        Code.UNSUPPORTED_TRIGGER: Fault(
            _N, "triggers of this kind are not supported yet", "add a `condition`"
        ),
        Code.BAD_OVERRIDE: Fault(
            _W, "the override is malformed and was ignored", "write `name=mode`"
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with one rule file.

    `file`: its shown path. `line` counts from 1. `found`: the offending text. `allowed`: what
    may stand there. `detail`: what a parser said, where one did.
    """

    code: Code
    file: str
    field: str | None = None
    line: int | None = None
    found: str = ""
    allowed: str = ""
    detail: str = ""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return FAULTS[self.code].severity

    @property
    def advice(self) -> str:
        """The next step for the rule's author."""
        return FAULTS[self.code].advice

    def render(self) -> str:
        """One line: file, line, severity, code, field, what is wrong, found, allowed, advice."""
        fault = FAULTS[self.code]
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        field = f"`{self.field}`: " if self.field else ""
        facts = [
            f"{word} {told}"
            for word, told in (
                # Quoted: what was found may end where a bracket is missing.
                ("found", self.found and f"`{_shown(self.found)}`"),
                ("allowed:", _shown(self.allowed)),
                ("reason:", _shown(self.detail)),
            )
            if told
        ]
        told = f" ({'; '.join(facts)})" if facts else ""
        return (
            f"{_shown(place)}: {fault.severity}[{self.code}]: "
            f"{field}{fault.says}{told}. Next step: {fault.advice}."
        )


def _shown(text: str) -> str:
    """Text on one line, printable, of bounded length."""
    flat = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return flat if len(flat) <= SHOWN else f"{flat[: SHOWN - 1]}…"
