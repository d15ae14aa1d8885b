"""Unified diffs in a fence tagged `diff`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import regex

from rules_engine.families import ToolFamily
from rules_engine.patches import UnifiedReader
from rules_engine.prose.block import INDENT, Block, Opening
from rules_engine.prose.lines import LinesBlock

_FENCE = regex.compile(rf"{INDENT}```diff[^`\n]*")
_END = regex.compile(rf"{INDENT}```")


def openings(_families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """The fence; headers inside it name the files."""
    return (Opening(_FENCE, _block),)


def _block(_found: regex.Match[str], _before: Sequence[str]) -> Block:
    return LinesBlock(_END, partial(UnifiedReader, headless=True))
