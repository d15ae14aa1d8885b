"""Pure-Python scanners: by literals that every match contains, by those that it begins with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from rules_engine.automaton import Marks, State, build, fold, gather
from rules_engine.dialect import Pattern


class LiteralScanner:
    """Serves where there is no compiled database. A report says where a match may be, not end."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.blind = frozenset(n for n, each in enumerate(patterns) if not each.literals)
        literals = ((text, n) for n, each in enumerate(patterns) for text in each.literals)
        self._start = build(gather(literals))

    def lag(self, number: int) -> int | None:  # noqa: ARG002 - the same for all
        """Give no bound: a literal may stand at the very beginning of a match."""
        return None

    def open(self) -> LiteralStream:
        """Begin with a new text."""
        return LiteralStream(self._start)


class LiteralStream:
    """One text on its way; `state`: what its end is the beginning of."""

    __slots__ = ("state",)

    def __init__(self, start: State) -> None:
        self.state = start

    def feed(self, text: str) -> Collection[int]:
        """Read the next piece; returns the marks of the strings that it completes."""
        seen = self.completed(text)
        return frozenset().union(*seen) if len(seen) > 1 else seen[0] if seen else ()

    def completed(self, text: str) -> Sequence[Marks]:
        """Read the next piece; returns the marks by the places where it completes strings."""
        state = self.state
        seen: list[Marks] | None = None
        for char in fold(text):
            state = state[char]
            if state.complete:
                if seen is None:
                    seen = []
                if state.complete not in seen:
                    seen.append(state.complete)
        self.state = state
        return seen or ()


class Tail(NamedTuple):
    """What the end of a text may be the beginning of.

    `lengths`: by pattern, how many characters at the end a match may begin with; `longest` of
    them. `asked`: patterns of which only a search of the text can tell.
    """

    lengths: Mapping[int, int]
    longest: int
    asked: tuple[int, ...]

    @classmethod
    def of(cls, lengths: Mapping[int, int], asked: Iterable[int]) -> Tail:
        """Complete a tail."""
        return cls(lengths, max(lengths.values(), default=0), tuple(asked))

    def among(self, numbers: Collection[int]) -> Tail:
        """Leave out all other patterns."""
        lengths = {n: length for n, length in self.lengths.items() if n in numbers}
        return Tail.of(lengths, (n for n in self.asked if n in numbers))


NO_TAIL = Tail.of({}, ())


class Beginnings:
    """Says which patterns a match may have begun of. `unknown`: those that may begin anyhow."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns
        self.unknown = frozenset(n for n, each in enumerate(patterns) if not each.prefixes)
        prefixes = ((text, n) for n, each in enumerate(patterns) for text in each.prefixes)
        self._start = build(gather(prefixes))

    def open(self) -> LiteralStream:
        """Begin with a new text."""
        return LiteralStream(self._start)

    def tail(self, state: State, end: str, among: AbstractSet[int]) -> Tail:
        """Judge a text's end: as much of it as `state` has read of a beginning, and one more."""
        lengths: dict[int, int] = {}
        asked: set[int] = set()
        for part in state.endings():
            length = len(part.text)
            start = max(0, len(end) - length - 1)
            begun, at = end[start:], len(end) - length - start
            for number in part.open() & among - lengths.keys():
                pattern = self._patterns[number]
                if not _judges(pattern, end):
                    asked.add(number)
                elif pattern.hold.match(begun, at):
                    lengths[number] = length
        return Tail.of(lengths, sorted(asked))


def _judges(pattern: Pattern, end: str) -> bool:
    """Whether one character in front of a match is all that the pattern looks back on."""
    near = pattern.behind is not None and pattern.behind <= 1
    return near and (end.isascii() or not pattern.in_units)
