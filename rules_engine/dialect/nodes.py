"""The syntax tree of a pattern. Flags are resolved: what a node matches does not depend on any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from rules_engine.dialect.charset import CharSet


class Assertion(StrEnum):
    """Conditions on a position that look at no more than one unit on each side."""

    START = "start"
    END = "end"
    LINE_START = "line start"
    LINE_END = "line end"
    WORD_EDGE = "word edge"
    NO_WORD_EDGE = "no word edge"


@dataclass(frozen=True, slots=True)
class Chars:
    """Consumes one unit out of `members`; an empty set never matches."""

    members: CharSet


@dataclass(frozen=True, slots=True)
class Sequence:
    """All of `items`, in order; none is the empty match."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first of `options` that leads to a match."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A capturing group, numbered from 1 in order of its opening bracket."""

    body: Node
    number: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` from `low` to `high` times (None: without end)."""

    body: Node
    low: int
    high: int | None
    lazy: bool


@dataclass(frozen=True, slots=True)
class Look:
    """A lookaround."""

    body: Node
    ahead: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """An assertion about the position."""

    kind: Assertion


@dataclass(frozen=True, slots=True)
class Reference:
    """What the groups captured, one after the other; an unset group counts as empty.

    Several numbers come from a name that several alternatives share: at most one is set.
    """

    numbers: tuple[int, ...]
    folded: bool


@dataclass(frozen=True, slots=True)
class Atomic:
    """Keeps the first way in which `body` matches. Not ECMAScript; taken from the engine."""

    body: Node


Node = Chars | Sequence | Choice | Group | Repeat | Look | Edge | Reference | Atomic

EMPTY = Sequence(())


def sequence(nodes: Iterable[Node]) -> Node:
    """Make one node of several in order, sequences inside flattened."""
    items: list[Node] = []
    for node in nodes:
        items += node.items if isinstance(node, Sequence) else (node,)
    return items[0] if len(items) == 1 else Sequence(tuple(items))


def children(node: Node) -> tuple[Node, ...]:
    """List the nodes directly below `node`, in order of the source."""
    match node:
        case Sequence(items):
            return items
        case Choice(options):
            return options
        case Group() | Repeat() | Look() | Atomic():
            return (node.body,)
        case Chars() | Edge() | Reference():
            return ()


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, in order of the source."""
    yield node
    for child in children(node):
        yield from walk(child)
