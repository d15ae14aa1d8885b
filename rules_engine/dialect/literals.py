"""Strings that every match must contain, or begin with: what a scanner may look for first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from rules_engine.dialect.charset import SURROGATES, CharSet, overlaps, size
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
)
from rules_engine.dialect.render import folded_letter

_MOST_STRINGS = 16
_MOST_UNITS = 4
_LONGEST = 64

Strings = frozenset[str]
_NOTHING: Strings = frozenset({""})


@dataclass(frozen=True, slots=True)
class Literals:
    """`contained`: every match contains one of them. `prefixes`: every match begins with one.

    Empty means unknown. `folded`: both are in small letters and must be looked for without
    regard to the case of ASCII letters.
    """

    contained: tuple[str, ...]
    prefixes: tuple[str, ...]
    folded: bool


@dataclass(frozen=True, slots=True)
class _Head:
    """What a node's matches begin with; `whole`: they are exactly these strings."""

    strings: Strings
    whole: bool


_UNKNOWN = _Head(_NOTHING, whole=False)
_ZERO_WIDTH = _Head(_NOTHING, whole=True)


def find_literals(tree: Node) -> Literals:
    """Find the literals of a tree. No surrogate halves are in them: any form of a text will do."""
    contained = _usable(_required(tree))
    prefixes = _usable(_head(tree).strings)
    folded = any(char in _FOLDED for text in contained | prefixes for char in text)
    return Literals(_listed(contained, folded=folded), _listed(prefixes, folded=folded), folded)


# Inside this module a letter that stands for both its forms is moved out of the way of letters
# that stand for themselves, into the private use area.
_SHIFT = 0xE000
_FOLDED = "".join(chr(_SHIFT + ord(char)) for char in "abcdefghijklmnopqrstuvwxyz")


def _listed(strings: Strings, *, folded: bool) -> tuple[str, ...]:
    plain = ("".join(_plain(char, folded=folded) for char in text) for text in strings)
    return tuple(sorted(set(plain)))


def _plain(char: str, *, folded: bool) -> str:
    if char in _FOLDED:
        return chr(ord(char) - _SHIFT)
    return char.lower() if folded else char


def _usable(strings: Strings) -> Strings:
    return frozenset() if "" in strings else strings


def _head(node: Node) -> _Head:  # noqa: PLR0911 - one return a kind
    match node:
        case Chars(members):
            return _unit(members)
        case Edge() | Look():
            return _ZERO_WIDTH
        case Reference():
            return _UNKNOWN
        case Group() | Atomic():
            return _head(node.body)
        case Repeat(body, low, high):
            if low == 0:
                return _UNKNOWN
            head = _head(body)
            return head if low == high == 1 else _Head(head.strings, whole=False)
        case Sequence(items):
            return _joined(_head(item) for item in items)
        case Choice(options):
            return _either(_head(option) for option in options)
        case _:
            assert_never(node)


def _unit(members: CharSet) -> _Head:
    letter = folded_letter(members)
    if letter is not None:
        return _Head(frozenset({chr(_SHIFT + ord(letter))}), whole=True)
    if not members or size(members) > _MOST_UNITS or overlaps(members, SURROGATES):
        return _UNKNOWN
    found = {chr(code) for low, high in members for code in range(low, high + 1)}
    return _Head(frozenset(found), whole=True) if all(map(_plain_unit, found)) else _UNKNOWN


def _plain_unit(char: str) -> bool:
    """Not a cased letter beyond ASCII, which scanners fold differently; not one of our marks."""
    return char.isascii() or (char.lower() == char.upper() and char not in _FOLDED)


def _joined(heads: Iterable[_Head]) -> _Head:
    known = _ZERO_WIDTH
    for head in heads:
        strings = frozenset(a + b for a in known.strings for b in head.strings)
        if len(strings) > _MOST_STRINGS or max(map(len, strings)) > _LONGEST:
            return _Head(known.strings, whole=False)
        known = _Head(strings, head.whole)
        if not head.whole:
            break
    return known


def _either(heads: Iterable[_Head]) -> _Head:
    listed = list(heads)
    strings = frozenset[str]().union(*(head.strings for head in listed))
    if len(strings) > _MOST_STRINGS:
        return _UNKNOWN
    return _Head(strings, all(head.whole for head in listed))


def _required(node: Node) -> Strings:
    """Find the best set of which every match contains a member; the empty string if none."""
    match node:
        case Chars():
            return _head(node).strings
        case Edge() | Look() | Reference():
            return _NOTHING
        case Group() | Atomic():
            return _required(node.body)
        case Repeat(body, low):
            return _required(body) if low else _NOTHING
        case Choice(options):
            strings = frozenset[str]().union(*(_required(option) for option in options))
            return strings if len(strings) <= _MOST_STRINGS else _NOTHING
        case Sequence(items):
            return _best_run(items)
        case _:
            assert_never(node)


def _best_run(items: tuple[Node, ...]) -> Strings:
    """Choose among all runs of neighbours, and what single items require."""
    best = _NOTHING
    run = _ZERO_WIDTH
    for item in items:
        head = _head(item)
        grown = _joined((run, head))
        # Of equals the later one: what rules are about stands behind what many begin with.
        best = max(_required(item), grown.strings, best, key=_worth)
        run = grown if grown.whole else (head if head.whole else _ZERO_WIDTH)
    return best


def _worth(strings: Strings) -> tuple[int, int]:
    return min(map(len, strings), default=0), -len(strings)
