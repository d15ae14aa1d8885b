"""Tools called as `<function=name>` with a `<parameter=name>` for each argument."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rules_engine.families import ToolFamily
from rules_engine.prose.block import Block, Opening
from rules_engine.prose.values import NAME, Marks, ValuesBlock

_FUNCTION = regex.compile(rf"<function=({NAME})>")
_PARAMETER = regex.compile(rf"<parameter=({NAME})>")
_END = regex.compile(r"(?:\r?\n)?</parameter>")
_OVER = regex.compile(r"</function>")


def openings(_families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """The element of any function."""
    return (Opening(_FUNCTION, _block, inline=True),)


def _block(found: regex.Match[str], _before: Sequence[str]) -> Block:
    return ValuesBlock(found.group(1), Marks(lambda _: _END, over=_OVER, begin=_PARAMETER))
