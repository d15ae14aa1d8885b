"""Tools called in a fence tagged `tool`: a line names it, and lines mark each argument."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rules_engine.families import ToolFamily
from rules_engine.prose.block import INDENT, Block, Opening
from rules_engine.prose.values import NAME, Marks, ValuesBlock

_TOOL = regex.compile(rf"{INDENT}TOOL_NAME:[ \t]*({NAME})[ \t\r]*", regex.IGNORECASE)
_BEGIN = regex.compile(rf"BEGIN_ARG:[ \t]*({NAME})[ \t\r]*(?:\n)")
_END = regex.compile(r"(?:\r?\n)?END_ARG")
_OVER = regex.compile(r"```")
# An argument may be empty, with its end on the very next line.
_MARKS = Marks(lambda _: _END, over=_OVER, begin=_BEGIN, at_once=_END)


def openings(_families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """The line that names the tool; the fence before it is not asked for."""
    return (Opening(_TOOL, _block),)


def _block(found: regex.Match[str], _before: Sequence[str]) -> Block:
    return ValuesBlock(found.group(1), _MARKS)
