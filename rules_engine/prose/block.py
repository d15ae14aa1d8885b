"""What every format of edits in prose is made of: what opens a block, and the block itself.

Where a block begins and ends depends on the text alone: whatever is undecided waits for more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import regex

from rules_engine.families import ToolFamily
from rules_engine.tools import CallReader

INDENT = r"[ \t]{0,40}"
"""What may stand in front of a mark on its line; bounded, so that no line waits for long."""


class Block(Protocol):
    """A stretch of text that edits a file or calls a tool.

    tool: the name of the call that it stands for. named: the file as the lines before it say
    (several readings of one line), empty where they do not.
    """

    tool: str
    named: tuple[str, ...]

    def take(self, text: str, at: int, *, final: bool) -> tuple[int, bool]:
        """Give how far `text` from `at` on belongs to the block, and whether it ended there.

        What lies behind is undecided, unless the block ended; with `final` nothing is.
        """

    def reader(self, families: tuple[ToolFamily, ...], paths: tuple[str, ...]) -> CallReader:
        """Make the reader of the block's text. `paths`: the file, where the text names none."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines that are only shown, and stay prose up to one that `end` matches: no block in them."""

    end: regex.Pattern[str]


@dataclass(frozen=True, slots=True)
class Opening:
    """What opens a block: a whole line (`inline` False), or a mark that begins with `<`.

    `make` takes the match and the lines before it, newest last. Only a line may open what is shown.
    """

    pattern: regex.Pattern[str]
    make: Callable[[regex.Match[str], Sequence[str]], Block | Shown]
    inline: bool = False
