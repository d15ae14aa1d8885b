"""Widths and reaches of a pattern's parts, in code units; None stands for unbounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from rules_engine.dialect.charset import SURROGATES, TERMINATORS, overlaps
from rules_engine.dialect.nodes import (
    Assertion,
    Atomic,
    Chars,
    Choice,
    Edge,
    Group,
    Look,
    Node,
    Reference,
    Repeat,
    Sequence,
    children,
    walk,
)

Width = tuple[int, int | None]


@dataclass(slots=True)
class Measure:
    """Answers for one tree."""

    bodies: dict[int, Node] = field(default_factory=dict)
    _known: dict[int, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Node) -> Measure:
        """Prepare the measure of `tree` and everything in it."""
        return cls({node.number: node.body for node in walk(tree) if isinstance(node, Group)})

    def width(self, node: Node) -> Width:  # noqa: PLR0911 - one return a kind
        """Give the least and the greatest number of units that `node` takes."""
        match node:
            case Chars():
                return 1, 1
            case Edge() | Look():
                return 0, 0
            case Group() | Atomic():
                return self.width(node.body)
            case Reference(numbers):
                return 0, _total([self.captured(number) for number in numbers])
            case Sequence(items):
                widths = [self.width(item) for item in items]
                return sum(low for low, _ in widths), _total([high for _, high in widths])
            case Choice(options):
                widths = [self.width(option) for option in options]
                return min(low for low, _ in widths), _greatest([high for _, high in widths])
            case Repeat(body, low, high):
                least, most = self.width(body)
                return least * low, _product(most, high)
            case _:
                assert_never(node)

    def captured(self, number: int) -> int | None:
        """Give the widest capture of a group. Groups that refer to each other have no bound."""
        if number not in self._known:
            self._known[number] = None
            self._known[number] = self.width(self.bodies[number])[1]
        return self._known[number]

    def behind(self, node: Node) -> int | None:
        """How many units in front of a match's start can matter to it."""
        match node:
            case Edge(kind):
                return 0 if kind in {Assertion.END, Assertion.LINE_END} else 1
            case Look(body, ahead):
                inner = self.behind(body)
                return inner if ahead else _total([inner, self.width(body)[1]])
            case _:
                return _greatest([0, *(self.behind(part) for part in children(node))])

    def line_bounded(self, node: Node) -> bool:
        """Whether `node` can take no line terminator."""
        match node:
            case Chars(members):
                return not overlaps(members, TERMINATORS)
            case Look():
                return True
            case Reference(numbers):
                return all(self._captures_no_terminator(number) for number in numbers)
            case _:
                return all(self.line_bounded(part) for part in children(node))

    def _captures_no_terminator(self, number: int) -> bool:
        parts = walk(self.bodies[number])
        return not any(
            isinstance(part, Reference)
            or (isinstance(part, Chars) and overlaps(part.members, TERMINATORS))
            for part in parts
        )


def counts_units(tree: Node) -> bool:
    """Whether half of an astral character can match something in `tree`."""
    return any(
        isinstance(node, Chars) and overlaps(node.members, SURROGATES) for node in walk(tree)
    )


def _total(widths: list[int | None]) -> int | None:
    known = [width for width in widths if width is not None]
    return sum(known) if len(known) == len(widths) else None


def _greatest(widths: list[int | None]) -> int | None:
    known = [width for width in widths if width is not None]
    return max(known, default=0) if len(known) == len(widths) else None


def _product(width: int | None, times: int | None) -> int | None:
    if width == 0 or times == 0:
        return 0
    return None if width is None or times is None else width * times
