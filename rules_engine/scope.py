"""The scope grammar: which surfaces, tools and paths a rule watches.

Grammar and meaning are oh-my-pi's (`.` in tool names added): `text`, `thinking`, `tool`,
`tool:edit(*.rs)`, `tool(*.ts)`, a bare tool name. Tokens are alternatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rules_engine.globs import Glob


class Surface(StrEnum):
    """Where output appears. OMP calls it the source."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ScopeToken:
    """One alternative of a scope. `tool` None means every tool; only tool tokens carry a glob."""

    surface: Surface
    tool: str | None = None
    glob: Glob | None = None
