"""Measured values by what was measured, one for each round, and what is told of them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Spread:
    """A median, with the least and the greatest value."""

    median: float
    least: float
    greatest: float

    def text(self, digits: int = 1) -> str:
        """As it stands in a table."""
        if self.least == self.greatest:
            return f"{self.median:,.{digits}f}"
        return f"{self.median:,.{digits}f} ({self.least:,.{digits}f}-{self.greatest:,.{digits}f})"


@dataclass(slots=True)
class Samples:
    """Values by name. What is compared must have been measured in the same round."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        """One more value, of the round that is running."""
        self.values.setdefault(name, []).append(value)

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def median(self, name: str) -> float:
        """Of all rounds."""
        return statistics.median(self.values[name])

    def spread(self, name: str) -> Spread:
        """Of all rounds."""
        return _spread(self.values[name])

    def ratio(self, over: str, under: str) -> float:
        """The median of the ratios within each round."""
        return self.ratios(over, under).median

    def ratios(self, over: str, under: str) -> Spread:
        """Of the ratios within each round; a round in which `under` is 0 or less has none.

        What has fewer values than the other has none of the later rounds.
        """
        pairs = zip(self.values[over], self.values[under], strict=False)
        return _spread([a / b for a, b in pairs if b > 0] or [float("nan")])


def _spread(values: list[float]) -> Spread:
    return Spread(statistics.median(values), min(values), max(values))
