"""A shell command in a fence tagged `bash`, or in an element of the agent's own."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from rules_engine.families import ToolFamily, shell_family
from rules_engine.prose.block import Block, Opening
from rules_engine.prose.values import Marks, ValuesBlock

_OWN = "mswea_bash_command"
_FENCE = regex.compile(rf"```(?:bash|{_OWN})[ \t\r]*")
_ELEMENT = regex.compile(f"<{_OWN}>")
_FENCE_END = regex.compile(r"\r?\n```")
_ELEMENT_END = regex.compile(rf"(?:\r?\n)?</{_OWN}>")
_FAMILY = shell_family(("bash",), ("command",))


def openings(_families: tuple[ToolFamily, ...]) -> tuple[Opening, ...]:
    """The fence's first line, or the element."""
    return (Opening(_FENCE, _fenced), Opening(_ELEMENT, _tagged, inline=True))


def _fenced(_found: regex.Match[str], _before: Sequence[str]) -> Block:
    at_once = regex.compile("```")
    marks = Marks(lambda _: _FENCE_END, value="command", at_once=at_once)
    return ValuesBlock("bash", marks, families=(_FAMILY,))


def _tagged(_found: regex.Match[str], _before: Sequence[str]) -> Block:
    marks = Marks(lambda _: _ELEMENT_END, value="command")
    return ValuesBlock("bash", marks, families=(_FAMILY,))
