"""How long a search may take: a bound on harmless lengths, and a trial on hostile texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import assert_never

import regex

from rules_engine.dialect.charset import CharSet, contains
from rules_engine.dialect.nodes import (
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

_FEW = 8
_STEPS = 100_000
_LEAST_PATIENCE = 16
_PUMPS = 30
_LONGEST_TURN = 32
_TRIALS = 8
_TRIAL_SECONDS = 0.02
_LIKELY = "a0 _-.,/\"'("


@dataclass(frozen=True, slots=True)
class Risk:
    """`patience`: texts up to this length are searched quickly, whatever is in them."""

    patience: int
    loops: tuple[Repeat, ...]


def assess(tree: Node) -> Risk:
    """Judge by the shape: loops in a row make a search polynomial, loops in loops worse."""
    loops = tuple(
        node for node in walk(tree) if isinstance(node, Repeat) and _long(node) and _ambiguous(node)
    )
    if loops:
        return Risk(_LEAST_PATIENCE, loops)
    return Risk(max(_LEAST_PATIENCE, int(_STEPS ** (1 / (1 + _degree(tree))))), ())


def _long(node: Repeat) -> bool:
    return node.high is None or node.high > _FEW


def _ambiguous(node: Repeat) -> bool:
    """Whether the loop's body can match one text in several ways, as far as its shape tells."""
    return any(isinstance(part, Repeat | Choice | Reference) for part in walk(node.body))


def _degree(node: Node) -> int:
    match node:
        case Chars() | Edge():
            return 0
        case Reference():
            return 1
        case Repeat(body):
            return _degree(body) + _long(node)
        case Choice(options):
            return max(map(_degree, options))
        case Group() | Look() | Atomic() | Sequence():
            return sum(map(_degree, children(node)))
        case _:
            assert_never(node)


def explodes(compiled: regex.Pattern[str], tree: Node, loops: tuple[Repeat, ...]) -> bool:
    """Whether a short text made of a loop's own turns already takes more than a moment."""
    attacks = (text for loop in loops for text in _attacks(tree, loop))
    return any(_is_slow(compiled, text) for text in islice(attacks, _TRIALS))


def _attacks(tree: Node, loop: Repeat) -> Iterator[str]:
    head = _text_before(tree, loop)
    turn = _sample(loop.body)
    if head is not None and turn:
        yield head + turn * _PUMPS + "\x00"
        yield head + turn * _PUMPS + "!\n"


def _is_slow(compiled: regex.Pattern[str], text: str) -> bool:
    try:
        compiled.search(text, timeout=_TRIAL_SECONDS)
    except TimeoutError:
        return True
    return False


def _text_before(node: Node, loop: Repeat) -> str | None:
    """Make a text that leads a match up to `loop`; None if the loop is not in `node`."""
    if node is loop:
        return ""
    text = ""
    for part in children(node):
        found = _text_before(part, loop)
        if found is not None:
            return text + found
        text += _sample(part) if isinstance(node, Sequence) else ""
    return None


def _sample(node: Node) -> str:
    match node:
        case Chars(members):
            return _likely_unit(members)
        case Edge() | Look() | Reference():
            return ""
        case Group() | Atomic():
            return _sample(node.body)
        case Repeat(body, low, high):
            return "" if high == 0 else (_sample(body) * min(low, _FEW))[:_LONGEST_TURN]
        case Sequence(items):
            return "".join(map(_sample, items))[:_LONGEST_TURN]
        case Choice(options):
            return next(filter(None, map(_sample, options)), "")
        case _:
            assert_never(node)


def _likely_unit(members: CharSet) -> str:
    likely = (char for char in _LIKELY if contains(members, ord(char)))
    return next(likely, chr(members[0][0]) if members else "")
