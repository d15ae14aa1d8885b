"""Leading runs that change no hit: where a match may begin anywhere, its first run is not needed.

Without them a match begins later, so less output has to be held for it.
"""

from __future__ import annotations

from rules_engine.dialect.nodes import EMPTY, Chars, Choice, Node, Repeat, Sequence, sequence


def trim(node: Node) -> Node:
    """Cut the pattern's leading repeats to what they must take."""
    match node:
        case Sequence((first, *rest)):
            start = trim(first)
            if start == EMPTY:
                return trim(sequence(rest))
            return node if start is first else sequence((start, *rest))
        case Choice(options):
            trimmed = tuple(map(trim, options))
            return node if all(map(_same, trimmed, options)) else Choice(trimmed)
        case Repeat(Chars() as body, low, high):
            if low == high:
                return node
            return _times(body, low)
        case _:
            return node


def _times(body: Node, count: int) -> Node:
    if count == 1:
        return body
    return Repeat(body, count, count, lazy=False) if count else EMPTY


def _same(left: Node, right: Node) -> bool:
    return left is right
