"""The scanners of one rule set: literals from the start, the compiled database once it is there."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property

from rules_engine.bunches import FEWEST, Bunch, Join, find_bunches, join
from rules_engine.dialect import Pattern
from rules_engine.scanner import Scanner
from rules_engine.scanner.hyperscan import (
    HyperscanScanner,
    compile_database,
    database_key,
    restore_database,
)
from rules_engine.scanner.literals import Beginnings, LiteralScanner


class Matcher:
    """Patterns, each once and numbered, and what finds candidates among them.

    `compile` is slow and touches nothing, so it may run on another thread, as may `restore`;
    `adopt` makes what they gave serve every window that opens from then on.
    """

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self.patterns = tuple({pattern.source: pattern for pattern in patterns}.values())
        self.numbers = {pattern.source: n for n, pattern in enumerate(self.patterns)}
        self.shared: dict[Hashable, object] = {}  # what windows of the same rules share
        self.bunches: tuple[Bunch, ...] = ()
        self._compiled: HyperscanScanner | None = None
        self._claimed = False

    @property
    def scanner(self) -> Scanner:
        """The best scanner so far."""
        return self._compiled or self._literals

    @property
    def compiled(self) -> bool:
        """Whether the database is there."""
        return self._compiled is not None

    def prepare(self) -> None:
        """Make at once what the first window would make; it may run on another thread."""
        _ = self.scanner, self.beginnings

    @cached_property
    def beginnings(self) -> Beginnings:
        """What tells where matches may begin."""
        return Beginnings(self.patterns)

    @cached_property
    def _literals(self) -> LiteralScanner:
        return LiteralScanner(self.patterns)

    def claim(self) -> bool:
        """Whether the database is still to be compiled; who asks first is to do it."""
        claimed, self._claimed = self._claimed, True
        return not claimed

    def compile(self) -> HyperscanScanner | None:
        """Compile the database; None where the library is missing or takes none of the patterns."""
        return compile_database(self.patterns)

    @property
    def key(self) -> str | None:
        """Name, by a hash, what the database depends on; None where there can be none."""
        return database_key(self.patterns)

    def restore(self, dump: bytes) -> HyperscanScanner | None:
        """Take up a database that was written down; None if it is not this one, or is damaged."""
        return restore_database(self.patterns, dump)

    def bunch(self, join: Join = join, fewest: int = FEWEST) -> None:
        """Put together what begins alike, for the windows to come; slow, as `compile` is."""
        self.bunches = find_bunches(self.patterns, join, fewest)

    def adopt(self, scanner: HyperscanScanner | None) -> None:
        """Serve the windows to come with `scanner`, if there is one."""
        self._compiled = scanner or self._compiled
