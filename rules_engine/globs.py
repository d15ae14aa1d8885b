"""Path globs and the candidates that they are tried on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glob:
    """One glob as its author wrote it."""

    pattern: str
