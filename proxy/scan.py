"""Files of a directory against the rules, each as if a model had just edited and written it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from proxy.errors import CannotRun
from proxy.places import lies_in
from proxy.source_files import files
from proxy.trial import Ground, Output, observe, position, sections
from rules_engine.decisions import Hit
from rules_engine.globs import path_candidates
from rules_engine.policy import covers
from rules_engine.rule import Rule
from rules_engine.ruleset import LiveRule, RuleSet
from rules_engine.scope import Surface

MAX_BYTES = 5 * 2**20
_PROBE = 8192  # bytes in which a NUL shows that a file is no text
_TOOLS = ("write", "edit")

Skipped = Literal["binary", "large", "unreadable", "noRelevantRules"]
SKIPPED: tuple[Skipped, ...] = ("binary", "large", "unreadable", "noRelevantRules")
Progress = Callable[[int, int], None]
"""Called with the number of files done and of all files."""


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What to scan. `max_bytes`: larger files are skipped; 0 for no limit."""

    directory: Path
    gitignore: bool = True
    max_bytes: int = MAX_BYTES


@dataclass(frozen=True, slots=True)
class Violation:
    """The first place in a file where a rule hits. Lines and columns count from 1.

    `interrupts`: whether a model that wrote it would have been stopped.
    """

    rule: Rule
    interrupts: bool
    tool: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was found in one file. `path`: relative to the workspace where it lies in it."""

    path: str
    violations: tuple[Violation, ...] = ()
    quarantined: tuple[str, ...] = ()
    skipped: Skipped | None = None


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What was found in all files, in the order of their paths; `rules`: those that could hit."""

    files: tuple[FileReport, ...]
    rules: tuple[Rule, ...]
    options: ScanOptions

    @property
    def matched(self) -> tuple[FileReport, ...]:
        """Files with violations."""
        return tuple(file for file in self.files if file.violations)

    @property
    def quarantined(self) -> tuple[tuple[str, str], ...]:
        """Path and rule wherever a rule took too long and so was not decided."""
        return tuple((file.path, name) for file in self.files for name in file.quarantined)


def scan(ruleset: RuleSet, ground: Ground, options: ScanOptions, progress: Progress) -> ScanReport:
    """Try every file; raises CannotRun where there is no directory or no rule for files."""
    if not options.directory.is_dir():
        raise CannotRun(f"{options.directory} is no directory; name one that exists.")
    scanner = _Scanner(ruleset, ground, options)
    if not scanner.rules:
        raise CannotRun(
            f"no rule in force watches files that are edited or written, so {options.directory} "
            "was not scanned; `ttsr list` shows the rules and `ttsr lint` what is wrong with them."
        )
    found = sorted(files(options.directory, gitignore=options.gitignore))
    reports = []
    for done, path in enumerate(found, 1):
        reports.append(scanner.file(path))
        progress(done, len(found))
    return ScanReport(tuple(reports), tuple(live.rule for live in scanner.rules), options)


class _Scanner:
    def __init__(self, ruleset: RuleSet, ground: Ground, options: ScanOptions) -> None:
        self._ground = ground
        self._options = options
        self._names = {tool: _names(tool, ground) for tool in _TOOLS}
        self.rules = tuple(
            live
            for live in ruleset.live
            if not live.rule.question
            and any(live.rule.may_watch(Surface.TOOL, names) for names in self._names.values())
        )

    def file(self, path: Path) -> FileReport:
        """Read and try one file."""
        shown = self._shown(path)
        relevant = self._relevant(shown)
        if not relevant:
            return FileReport(shown, skipped="noRelevantRules")
        content = self._read(path)
        if not isinstance(content, bytes):
            return FileReport(shown, skipped=content)
        return self._tried(shown, content.decode("utf-8", "replace"), relevant)

    def _shown(self, path: Path) -> str:
        """Relative to the workspace if inside; names that are no UTF-8 made fit to show."""
        root, own = self._ground.workspace, str(path)
        shown = os.path.relpath(own, root).replace(os.sep, "/") if lies_in(own, root) else own
        return os.fsencode(shown).decode("utf-8", "replace")

    def _relevant(self, path: str) -> dict[str, list[LiveRule]]:
        """Rules by the tool that they are tried with: by the first one that they watch."""
        candidates = path_candidates(path, self._ground.workspace)
        relevant: dict[str, list[LiveRule]] = {}
        for live in self.rules:
            for tool, names in self._names.items():
                if live.rule.watches(Surface.TOOL, names, candidates):
                    relevant.setdefault(tool, []).append(live)
                    break
        return relevant

    def _read(self, path: Path) -> bytes | Skipped:
        limit = self._options.max_bytes
        try:
            if limit and path.stat().st_size > limit:
                return "large"
            content = path.read_bytes()
        except OSError:
            return "unreadable"
        return "binary" if b"\0" in content[:_PROBE] else content

    def _tried(self, path: str, text: str, relevant: dict[str, list[LiveRule]]) -> FileReport:
        violations: list[Violation] = []
        quarantined: list[str] = []
        for tool, rules in relevant.items():
            output = Output(text, Surface.TOOL, tool, path)
            observed = observe(RuleSet("", tuple(rules), (), ()), output, self._ground)
            quarantined += observed.quarantined
            modes = {live.rule: live.mode for live in rules}
            violations += (
                _violation(hit, text, tool, covers(modes[hit.rule], Surface.TOOL))
                for hit in observed.hits
            )
        violations.sort(key=lambda each: (each.start, each.rule.name))
        return FileReport(path, tuple(violations), tuple(quarantined))


def _names(tool: str, ground: Ground) -> tuple[str, ...]:
    """What scopes may call the tool, as the server reads a call of it."""
    places = sections(Output("source", Surface.TOOL, tool, "path"), ground)
    return tuple(dict.fromkeys(name for place in places for name in place.names))


def _violation(hit: Hit, text: str, tool: str, interrupts: bool) -> Violation:  # noqa: FBT001 - a value, not a switch
    return Violation(
        hit.rule,
        interrupts,
        tool,
        hit.start,
        hit.end,
        *position(text, hit.start),
        *position(text, hit.end),
        text[hit.start : hit.end],
    )


# ---- as JSON


def fields(report: ScanReport) -> dict[str, Any]:
    """The report as JSON: files with violations, and a summary of all."""
    skipped = Counter(file.skipped for file in report.files if file.skipped)
    total = len(report.files)
    return {
        "files": [
            {"path": file.path, "matches": [_violation_fields(each) for each in file.violations]}
            for file in report.matched
        ],
        "quarantined": [{"path": path, "rule": rule} for path, rule in report.quarantined],
        "summary": {
            "totalFiles": total,
            "scannedFiles": total - skipped.total(),
            "matchedFiles": len(report.matched),
            "totalMatches": sum(len(file.violations) for file in report.files),
            "evaluatedRules": len(report.rules),
            "skippedFiles": skipped.total(),
            "skipped": {why: skipped[why] for why in SKIPPED},
            "gitignore": report.options.gitignore,
            "maxBytes": report.options.max_bytes,
        },
    }


def _violation_fields(violation: Violation) -> dict[str, Any]:
    return {
        "rule": violation.rule.name,
        "rulePath": violation.rule.path,
        "description": violation.rule.description,
        "tool": violation.tool,
        "interrupts": violation.interrupts,
        "start": violation.start,
        "end": violation.end,
        "line": violation.line,
        "column": violation.column,
        "endLine": violation.end_line,
        "endColumn": violation.end_column,
        "text": violation.text[:400],
    }
