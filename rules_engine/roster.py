"""The rules on a window by their patterns: what windows of the same rules share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rules_engine.automaton import Marks, State
from rules_engine.bunches import Bunch
from rules_engine.matcher import Matcher
from rules_engine.ruleset import LiveRule
from rules_engine.scanner.literals import NO_TAIL, Tail
from rules_engine.triggers.pattern import PatternTrigger

_MOST_SHARED = 64
_MOST_TAILS = 4_096


@dataclass(frozen=True, slots=True)
class Watch:
    """A rule on a window. `holds`: it would interrupt, so text that may still match waits."""

    live: LiveRule
    holds: bool


class Begun(NamedTuple):
    """What holds and may have begun where some strings end: patterns, and whole bunches."""

    numbers: frozenset[int]
    bunches: frozenset[Bunch]


@dataclass(frozen=True, slots=True)
class Roster:
    """Rules by place, patterns by the number that `matcher` gives them.

    `parts`: the patterns of each rule. `owners`: the rules of each pattern. `holding`: patterns
    of rules that hold, `anyhow` those of them of which it is not known how a match begins.
    `bunched`: the bunch of each that is asked together with others; `bunches`: each of these once.
    """

    watches: tuple[Watch, ...]
    matcher: Matcher
    triggers: Mapping[int, PatternTrigger]
    parts: tuple[tuple[int, ...], ...]
    owners: Mapping[int, tuple[int, ...]]
    numbers: frozenset[int]
    holding: frozenset[int]
    anyhow: frozenset[int]
    bunched: Mapping[int, Bunch]
    bunches: frozenset[Bunch]
    _tails: dict[str, Tail]
    _begun: dict[Marks, Begun]

    @classmethod
    def of(cls, watches: tuple[Watch, ...], matcher: Matcher | None = None) -> Roster:
        """Number the patterns of these rules. Without a matcher they get one of their own."""
        if matcher is None:
            triggers = (each for watch in watches for each in watch.live.patterns)
            return cls._new(watches, Matcher(trigger.pattern for trigger in triggers))
        # What is kept keeps its rules alive, so that no other can have their identity.
        key = (bool(matcher.bunches), *((id(watch.live), watch.holds) for watch in watches))
        known = matcher.shared.get(key)
        if isinstance(known, cls):
            return known
        if len(matcher.shared) >= _MOST_SHARED:
            matcher.shared.clear()
        made = matcher.shared[key] = cls._new(watches, matcher)
        return made

    @classmethod
    def _new(cls, watches: tuple[Watch, ...], matcher: Matcher) -> Roster:
        numbers = matcher.numbers
        by_number: dict[int, PatternTrigger] = {}
        owners: dict[int, tuple[int, ...]] = {}
        parts: list[tuple[int, ...]] = []
        for at, watch in enumerate(watches):
            own = {numbers[each.pattern.source]: each for each in watch.live.patterns}
            by_number |= own
            parts.append(tuple(own))
            for number in own:
                owners[number] = (*owners.get(number, ()), at)
        held = (n for at, watch in enumerate(watches) if watch.holds for n in parts[at])
        holding = frozenset(held)
        bunched = dict(_bunched(matcher.bunches, holding))
        return cls(
            watches,
            matcher,
            by_number,
            tuple(parts),
            owners,
            frozenset(owners),
            holding,
            matcher.beginnings.unknown & holding if holding else holding,
            bunched,
            frozenset(bunched.values()),
            {},
            {},
        )

    def begun(self, marks: Marks) -> Begun:
        """Say what may have begun where the strings with these marks end."""
        begun = self._begun.get(marks)
        if begun is None:
            if len(self._begun) >= _MOST_TAILS:
                self._begun.clear()
            together = marks & self.bunched.keys()
            bunches = frozenset(self.bunched[number] for number in together)
            begun = self._begun[marks] = Begun(self.holding & marks - together, bunches)
        return begun

    def tail(self, state: State, text: str) -> Tail:
        """Say which patterns that hold the end of a text may be the beginning of."""
        if not state.text:
            return NO_TAIL
        end = text[-len(state.text) - 1 :]
        tail = self._tails.get(end)
        if tail is None:
            if len(self._tails) >= _MOST_TAILS:
                self._tails.clear()
            tail = self._tails[end] = self.matcher.beginnings.tail(state, end, self.holding)
        return tail

    def floored(self, floors: Mapping[int, int]) -> set[int]:
        """Give the patterns that have a floor of their own among these, or that of their bunch."""
        numbers = {number for number in floors if number >= 0}
        if len(numbers) < len(floors):
            numbers.update(*(each.members for each in self.bunches if each.key in floors))
        return numbers

    def held_by(self, at: int) -> tuple[int, ...]:
        """Give the patterns of a rule, if it holds."""
        return self.parts[at] if self.watches[at].holds else ()


def _bunched(bunches: Iterable[Bunch], holding: frozenset[int]) -> Iterator[tuple[int, Bunch]]:
    """Give each pattern that holds its bunch, if others of that hold too."""
    for bunch in bunches:
        members = bunch.members & holding
        if len(members) > 1:
            yield from ((number, bunch) for number in members)
