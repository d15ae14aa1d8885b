"""The patch envelope, written into the text."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rules_engine.families import ToolFamily
from rules_engine.patches import EnvelopeReader
from rules_engine.prose.block import INDENT, Block, Opening
from rules_engine.prose.lines import LinesBlock

_BEGIN = regex.compile(rf"{INDENT}\*\*\* Begin Patch[ \t\r]*")
_END = regex.compile(rf"{INDENT}\*\*\* End Patch")


def openings(_families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """Its first line; headers inside it name the files."""
    return (Opening(_BEGIN, _block),)


def _block(_found: regex.Match[str], _before: Sequence[str]) -> Block:
    return LinesBlock(_END, EnvelopeReader)
