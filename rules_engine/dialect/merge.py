"""Several patterns as one tree that matches where one of them does; what they begin with, once."""

from __future__ import annotations

from collections.abc import Iterable

from rules_engine.dialect.nodes import (
    EMPTY,
    Choice,
    Node,
    Sequence,
    sequence,
)


def merge(trees: Iterable[Node]) -> Node:
    """Put trees together. None may hold captures, whose numbers would get mixed up."""
    return _merged([_items(tree) for tree in trees])


def _items(tree: Node) -> tuple[Node, ...]:
    return tree.items if isinstance(tree, Sequence) else (tree,)


def _merged(rows: list[tuple[Node, ...]]) -> Node:
    """Merge what is left of each behind the same beginning: where one has ended, it matches."""
    if not all(rows):
        return EMPTY
    rests: dict[Node, list[tuple[Node, ...]]] = {}
    for first, *rest in rows:
        rests.setdefault(first, []).append(tuple(rest))
    options = tuple(sequence((first, _merged(rows))) for first, rows in rests.items())
    return options[0] if len(options) == 1 else Choice(options)
