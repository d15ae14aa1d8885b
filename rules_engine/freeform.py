"""Reads the raw input of a custom tool, which is no JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rules_engine.families import HEURISTIC, PatchFormat, ToolFamily, canonical_of
from rules_engine.formats import patch_reader
from rules_engine.reader import TextReader
from rules_engine.sections import PatchText, Window

# An envelope, a diff, a marker, a fence, or a file's name in front of one of these.
_OPENS_PATCH = re.compile(
    r"\*\*\* Begin Patch|(?:---|\+\+\+|diff|Index:) |@@|<{5}|-{5}|`{3}|~{3}|\S+\s*$"
)


class FreeformReader(TextReader):
    """Reads a custom tool's raw input: patch text where a family says so, else one section."""

    def _begin(self, families: tuple[ToolFamily, ...]) -> None:
        self._patches: list[PatchText] = []
        self._plain: Window | None = None
        self._unknown = not families
        formats = _freeform_formats(families)
        for shape, names in formats.items():
            reader = patch_reader(shape, self._growth)
            patch_names = tuple(dict.fromkeys((*self._own, *names)))
            self._patches.append(
                PatchText(
                    reader,
                    self._growth,
                    f"input#{shape}",
                    patch_names,
                    self._named_at,
                    (),
                    (),
                    [],
                    own=self._own,
                )
            )
        if not formats or PatchFormat.SHELL in formats:
            self._plain = self._whole(_names_of_all(families, self._own))

    def _whole(self, names: tuple[str, ...], known: int = 0) -> Window:
        window = Window("input", self._growth, names, self._named_at)
        window.settle((), known)
        self._windows.add(window)
        return window

    def _piece(self, text: str, start: int) -> None:
        if self._unknown and self._plain is None:
            self._look_at_first_line()
        if self._plain is not None:
            self._windows.touch(self._plain)
        self._add(w for patch in self._patches for w in patch.feed(text, start, self._windows))

    def _look_at_first_line(self) -> None:
        """An input of an unknown tool whose first line opens no patch is matched as it stands."""
        line, ended, rest = self._growth.text.lstrip().partition("\n")
        if not ended:
            return
        self._unknown = False
        if not _OPENS_PATCH.match(line):
            known = self._growth.arrival(self._growth.length - len(rest))
            self._patches = []
            self._plain = self._whole(self._own, known)

    def _end(self) -> None:
        self._add(w for patch in self._patches for w in patch.close(self._windows, self._fed))
        read = any(patch.reader.recognised for patch in self._patches)
        if self._plain is None and not read and self._growth.length:
            self._whole(self._own).settle((), self._fed)


def _names_of_all(families: Iterable[ToolFamily], own: tuple[str, ...]) -> tuple[str, ...]:
    """Give what a text may be called that is no patch; a command is no write of its own."""
    canonical = (
        name
        for family in families
        for name in (
            family.canonical if PatchFormat.SHELL in family.freeform else canonical_of(family)
        )
    )
    return tuple(dict.fromkeys((*own, *canonical)))


def _freeform_formats(families: Iterable[ToolFamily]) -> dict[PatchFormat, tuple[str, ...]]:
    """Give the formats to try, with the canonical names that each lends."""
    found = tuple(families)
    if not found:
        patches = (patch for family in HEURISTIC for patch in family.patches)
        return {patch.format: ("edit",) for patch in patches}
    formats: dict[PatchFormat, tuple[str, ...]] = {}
    for family in found:
        for shape in family.freeform:
            formats[shape] = (*formats.get(shape, ()), *family.canonical)
    return formats
