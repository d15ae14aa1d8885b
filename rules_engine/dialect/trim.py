"""Leading runs that change no hit: where a match may begin anywhere, its first run is not needed.

Without them a match begins later, so less output has to be held for it.
"""

from __future__ import annotations

from rules_engine.dialect.nodes import EMPTY, Chars, Choice, Node, Repeat, Sequence


def trim(node: Node) -> Node:
    """Cut the pattern's leading repeats to what they must take."""
    match node:
        case Sequence((first, *rest)):
            start = trim(first)
            if start == EMPTY:
                return trim(Sequence(tuple(rest)))
            return node if start is first else Sequence((start, *rest))
        case Choice(options):
            trimmed = tuple(map(trim, options))
            return node if all(map(_same, trimmed, options)) else Choice(trimmed)
        case Repeat(Chars() as body, low, high):
            if low == high:
                return node
            return Repeat(body, low, low, lazy=False) if low else EMPTY
        case _:
            return node


def _same(left: Node, right: Node) -> bool:
    return left is right
