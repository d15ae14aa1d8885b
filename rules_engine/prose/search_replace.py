"""SEARCH/REPLACE blocks: what stands between divider and REPLACE is new."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rules_engine.families import ToolFamily
from rules_engine.growth import Growth
from rules_engine.patches import PatchSection, SearchReplaceReader
from rules_engine.prose.block import INDENT, Block, Opening
from rules_engine.prose.lines import LinesBlock
from rules_engine.prose.paths import named_by

_SEARCH = regex.compile(rf"{INDENT}<{{5,9}} ?SEARCH>?(?: line=\d{{1,9}})?[ \t\r]*")
_REPLACE = regex.compile(rf"{INDENT}(?:>{{5,9}}|\+{{5,9}}) ?REPLACE")
_ONLY_DIVIDER = 1  # lines before the new text, where the old text is empty


class _OneBlock(SearchReplaceReader):
    """Reads from behind the SEARCH line on. Without old text, the block makes the file."""

    def __init__(self, source: Growth) -> None:
        super().__init__(source)
        self.recognised = True
        self._place = "old"
        self._old_lines = 0

    def kind(self, head: str) -> str | None:
        """Marks may be indented."""
        bare = head.lstrip(" \t")
        kind = super().kind(bare) if bare else None
        if kind is not None:
            self._count()
        return kind

    def kind_of_line(self, line: str) -> str:
        """Count blank lines of the old text too."""
        self._count()
        return super().kind_of_line(line)

    def line(self, text: str, end: int) -> None:
        """Read a mark."""
        super().line(text.strip(), end)

    def _count(self) -> None:
        if self._place == "old":
            self._old_lines += 1

    def _open(self, known: int) -> PatchSection:
        self.created = self._old_lines <= _ONLY_DIVIDER
        return super()._open(known)


def openings(_families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """A SEARCH line; the file is named before it."""
    return (Opening(_SEARCH, _block),)


def _block(_found: regex.Match[str], before: Sequence[str]) -> Block:
    return LinesBlock(_REPLACE, _OneBlock, named_by(before))
