"""Tools called as elements: one named after the tool, with a child for each argument."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import regex

from rules_engine.families import ToolFamily
from rules_engine.prose.block import Block, Opening
from rules_engine.prose.values import NAME, Marks, ValuesBlock

_BEHIND_A_FILE = "<(?:path|line_count|task_progress|requires_approval)>"
_ARGUMENT = regex.compile(rf"<({NAME})>")


def openings(families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """The element of any tool whose name cannot be a plain word of markup, such as `edit`."""
    names = sorted({tool for family in families for tool in family.tools if "_" in tool})
    if not names:
        return ()
    pattern = regex.compile(f"<({'|'.join(map(regex.escape, names))})>")
    return (Opening(pattern, _block, inline=True),)


def _block(found: regex.Match[str], _before: Sequence[str]) -> Block:
    tool = regex.escape(found.group(1))
    over = regex.compile(f"</{tool}>")
    marks = Marks(partial(_end, f"</{tool}>|{_BEHIND_A_FILE}"), over=over, begin=_ARGUMENT)
    return ValuesBlock(found.group(1), marks)


def _end(behind: str, name: str) -> regex.Pattern[str]:
    """A file may hold the mark that ends it: what counts is the one that something follows."""
    mark = rf"(?:\r?\n)?</{regex.escape(name)}>"
    return regex.compile(rf"{mark}(?=\s{{0,100}}(?:{behind}))" if name == "content" else mark)
