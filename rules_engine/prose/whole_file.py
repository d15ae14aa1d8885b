"""Whole files in a fence, the file being named on a line before it."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rules_engine.families import ToolFamily
from rules_engine.prose.block import INDENT, Block, Opening, Shown
from rules_engine.prose.paths import named_by
from rules_engine.prose.values import Marks, ValuesBlock

_FENCE = regex.compile(
    r"(?P<ticks>`{3,9})(?P<info>[^`\n]*)|<(?P<tag>source|code|pre|codeblock|sourcecode)>[ \t\r]*"
)
_SHELL = ("bash", "sh", "shell", "zsh", "console", "cmd", "powershell")
_FAMILY = ToolFamily(("write",), ("write", "edit"), paths=("path",), added=("content",))


def openings(_families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """A fence of backticks or of one of the tags that stand in for it."""
    return (Opening(_FENCE, _block),)


def _block(found: regex.Match[str], before: Sequence[str]) -> Block | Shown:
    """A command that is shown is no file."""
    info = (found["info"] or "").strip()
    if info in _SHELL:
        return Shown(regex.compile(rf"{INDENT}{found['ticks']}[ \t\r]*"))
    fence = found["ticks"] or f"</{found['tag']}>"
    end = regex.compile(rf"\r?\n{fence}")
    marks = Marks(lambda _: end, value="content", at_once=regex.compile(fence))
    named = named_by((*before, found.group()))
    return ValuesBlock("write", marks, named=named, families=(_FAMILY,), own_path=False)
