"""Finds candidate rules for new text, many patterns at once, behind one interface."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class Stream(Protocol):
    """One text on its way through a scanner."""

    def feed(self, text: str) -> Collection[int]:
        """Read the next piece; returns the patterns of which a match may have come with it.

        Candidates only: no match ends in the text without a report, but a report promises none.
        """
        ...


class Scanner(Protocol):
    """A scanner over numbered patterns. `blind`: those of which it can never say anything."""

    blind: frozenset[int]

    def lag(self, number: int) -> int | None:
        """How many units behind its report a match is decided at the latest; None: any number."""
        ...

    def open(self) -> Stream:
        """Begin with a new text."""
        ...
