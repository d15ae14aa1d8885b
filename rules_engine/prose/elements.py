"""Tools called as elements: one named after the tool, with a child for each argument."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rules_engine.families import ToolFamily
from rules_engine.prose.block import Block, Opening
from rules_engine.prose.values import NAME, Marks, ValuesBlock

_ARGUMENT = regex.compile(rf"<({NAME})>")


def openings(families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """The element of any tool whose name cannot be a plain word of markup, such as `edit`."""
    names = sorted({tool for family in families for tool in family.tools if "_" in tool})
    if not names:
        return ()
    pattern = regex.compile(f"<({'|'.join(map(regex.escape, names))})>")
    return (Opening(pattern, _block, inline=True),)


def _block(found: regex.Match[str], _before: Sequence[str]) -> Block:
    tool = found.group(1)
    over = regex.compile(f"</{regex.escape(tool)}>")
    return ValuesBlock(tool, Marks(_end, over=over, begin=_ARGUMENT))


def _end(name: str) -> regex.Pattern[str]:
    return regex.compile(rf"(?:\r?\n)?</{regex.escape(name)}>")
