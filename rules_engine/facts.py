"""What a turn is made from, and what it says of itself before it runs."""

from __future__ import annotations

from dataclasses import dataclass

from rules_engine.families import NO_EDITS, EditsInProse
from rules_engine.tools import ToolFamily


@dataclass(frozen=True, slots=True)
class Facts:
    """What the request says. `observe`: hits are only reported (several choices, side requests).

    `edits`: how the answer's text edits files, where it does; it is then `structured` too, since
    half an answer followed by another would be applied wrongly.
    """

    tools: tuple[str, ...] = ()
    families: tuple[ToolFamily, ...] = ()
    workspace: str | None = None
    structured: bool = False
    forced_tool: bool = False
    observe: bool = False
    edits: EditsInProse = NO_EDITS


@dataclass(frozen=True, slots=True)
class Plan:
    """What a turn is going to do. `idle`: nothing is watched, so bytes may pass unread."""

    idle: bool
    interrupts: bool
    whole: bool
