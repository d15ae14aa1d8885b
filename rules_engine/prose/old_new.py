"""Pairs of old and new text in elements; the file is known from the request."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rules_engine.families import ToolFamily
from rules_engine.prose.block import Block, Opening
from rules_engine.prose.values import Marks, ValuesBlock

_ELEMENT = regex.compile(r"<((?:old|new)_text)(?: line=\"?\d{1,9}\"?)?>")
# Models close one with the name of the other, and the reader of the edits lets them.
_END = regex.compile(r"(?:\r?\n)?</(?:(?:old_|new_)?text|edits)>")
_FAMILY = ToolFamily(
    ("edit",),
    ("edit",),
    paths=("path",),
    added=("new_text",),
    removed=("old_text",),
    rooted=True,
)


def openings(_families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """Either element; what stands in the old one is read by nobody."""
    return (Opening(_ELEMENT, _block, inline=True),)


def _block(found: regex.Match[str], _before: Sequence[str]) -> Block:
    name = found.group(1)
    marks = Marks(lambda _: _END, value=name)
    return ValuesBlock("edit", marks, families=(_FAMILY,), own_path=name == "old_text")
