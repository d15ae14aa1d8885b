"""Rules that begin alike, asked together: one search says that none of many has to be held.

A hundred rules that begin with `import` are a hundred searches wherever that word comes. As one
pattern they are one search, and mostly it finds that none of them goes on as the text does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rules_engine.automaton import fold
from rules_engine.dialect import Pattern, Together, compile_holds
from rules_engine.triggers.pattern import PatternTrigger

FEWEST = 4
_MOST = 64  # compiling takes longer than in proportion

# Compiles the one pattern of each group of sources.
Join = Callable[[Sequence[tuple[str, ...]]], Iterable[Together | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Bunch:
    """Patterns by their numbers, and one that may match from wherever one of them may.

    `key` stands for it among numbers of patterns, so it is negative.
    """

    key: int
    members: frozenset[int]
    trigger: PatternTrigger


def join(groups: Sequence[tuple[str, ...]]) -> Iterator[Together | None]:
    """Compile here. Takes a millisecond or more a pattern."""
    return map(compile_holds, groups)


def find_bunches(
    patterns: Sequence[Pattern], join: Join = join, fewest: int = FEWEST
) -> tuple[Bunch, ...]:
    """Put together what begins with the same strings, where they are `fewest` or more."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for number, pattern in enumerate(patterns):
        if pattern.prefixes:
            alike.setdefault(tuple(sorted({*map(fold, pattern.prefixes)})), []).append(number)
    groups = [group for numbers in alike.values() for group in _split(numbers, fewest)]
    compiled = join([tuple(patterns[n].source for n in group) for group in groups])
    return tuple(
        Bunch(
            key=-1 - at,
            members=frozenset(group[n] for n in together.taken),
            trigger=PatternTrigger(together.pattern),
        )
        for at, (group, together) in enumerate(zip(groups, compiled, strict=True))
        if together is not None
    )


def _split(numbers: list[int], fewest: int) -> Iterator[tuple[int, ...]]:
    for start in range(0, len(numbers), _MOST):
        group = tuple(numbers[start : start + _MOST])
        if len(group) >= fewest:
            yield group
