r"""A wider pattern for a scanner of whole streams: it reports wherever a match could end.

The scanner knows bytes, no lookarounds and no captures. So conditions are left out, beyond ASCII
most sets become any bytes, a unit that may be half of an astral character may be missing, and
what a match can do without at its two ends is cut off. Every match of the pattern then contains
one of the wider pattern.
"""

from __future__ import annotations

from collections.abc import Sequence as PySequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import assert_never

from rules_engine.dialect.charset import ALL, LAST, SURROGATES, CharSet, overlaps, size
from rules_engine.dialect.measure import Measure
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
    sequence,
)

# Counts beyond this are not worth their states in the scanner's tables.
_MOST = 32
_LARGEST = 4_096
_ASCII_END = 0x80
_BEYOND = r"[\x80-\xff]"
_FEW = 4
_WORD_EDGES = MappingProxyType({Assertion.WORD_EDGE: r"\b", Assertion.NO_WORD_EDGE: r"\B"})


@dataclass(frozen=True, slots=True)
class Prefilter:
    """`expression`: in the scanner's syntax, over UTF-8 with U+FFFD for lone halves.

    `lag`: a match is decided at most so many units behind the report of it (None: unbounded).
    """

    expression: str
    lag: int | None


def find_prefilter(tree: Node, measure: Measure) -> Prefilter | None:
    """Widen a pattern; None if what is left could match anywhere."""
    core, cut = _cut_tail(_cut_head(tree), measure)
    text = _emit(core, measure)
    if not text or _optional(core) or len(text) > _LARGEST:
        return None
    ahead = _ahead(tree, measure)
    return Prefilter(text, None if cut is None or ahead is None else cut + ahead)


def _cut_head(node: Node) -> Node:
    match node:
        case Sequence((first, *rest)) if _optional(first) and not _filters(first, rest):
            return _cut_head(sequence(rest))
        case Group(body) | Atomic(body):
            return _cut_head(body)
        case _:
            return node


def _cut_tail(node: Node, measure: Measure) -> tuple[Node, int | None]:
    """Leave out the optional end; also gives how wide it can be."""
    match node:
        case Sequence((*rest, last)) if _optional(last):
            width = measure.width(last)[1]
            core, more = _cut_tail(sequence(rest), measure)
            return core, None if width is None or more is None else width + more
        case Group(body) | Atomic(body):
            return _cut_tail(body, measure)
        case _:
            return node, 0


def _optional(node: Node) -> bool:
    """Whether the wider pattern can match nothing in the place of `node`."""
    match node:
        case Chars(members):
            return overlaps(members, SURROGATES)
        case Edge() | Look() | Reference():
            return True
        case Group(body) | Atomic(body):
            return _optional(body)
        case Repeat(body, low):
            return low == 0 or _optional(body)
        case Sequence(items):
            return all(map(_optional, items))
        case Choice(options):
            return any(map(_optional, options))
        case _:
            assert_never(node)


def _emit(node: Node, measure: Measure) -> str | None:  # noqa: PLR0911 - one return a kind
    """Write the wider pattern; None if it can match nothing at all."""
    match node:
        case Chars(members):
            return _unit(members)
        case Edge() | Look():
            return ""
        case Reference():
            return _repeated(ALL, 0, measure.width(node)[1])
        case Group(body) | Atomic(body):
            return _emit(body, measure)
        case Repeat(Chars(members), low, high) if members:
            return _repeated(members, low, high)
        case Repeat(body, low, high):
            inner = _emit(body, measure)
            if not inner:
                return "" if inner == "" or low == 0 else None
            return _times(f"(?:{inner})", low, high)
        case Sequence(items):
            return _row(items, measure)
        case Choice(options):
            texts = [text for option in options if (text := _emit(option, measure)) is not None]
            return f"(?:{'|'.join(texts)})" if texts else None
        case _:
            assert_never(node)


def _row(items: tuple[Node, ...], measure: Measure) -> str | None:
    text = ""
    for at, item in enumerate(items):
        part = _emit(item, measure)
        if part is None:
            return None
        if isinstance(item, Edge) and _filters(item, items[at + 1 :]):
            part = _WORD_EDGES[item.kind]
        text += part
    return text


def _filters(node: Node, rest: PySequence[Node]) -> bool:
    """Whether `node` can be kept as a word's edge: in front of a whole character it is no guess."""
    return isinstance(node, Edge) and node.kind in _WORD_EDGES and _begins_whole(sequence(rest))


def _begins_whole(node: Node) -> bool:
    match node:
        case Chars(members):
            return bool(members) and not overlaps(members, SURROGATES)
        case Group(body) | Atomic(body):
            return _begins_whole(body)
        case Repeat(body, low):
            return low > 0 and _begins_whole(body)
        case Sequence((first, *_)):
            return _begins_whole(first)
        case Choice(options):
            return all(map(_begins_whole, options))
        case _:
            return False


def _unit(members: CharSet) -> str | None:
    """Write one unit in bytes. A half of an astral character may be missing, or bring the other."""
    if not members:
        return None
    beyond = _within(members, _ASCII_END, LAST)
    if not beyond:
        return _class(members)
    if overlaps(members, SURROGATES):
        return _wide(members) + "{0,4}"
    near = [_class(ascii_part)] if (ascii_part := _within(members, 0, _ASCII_END - 1)) else []
    if size(beyond) > _FEW:
        return f"(?:{'|'.join([*near, _BEYOND + '{2,3}'])})"
    codes = [code for low, high in beyond for code in range(low, high + 1)]
    return f"(?:{'|'.join([*near, *map(_bytes, codes)])})"


def _repeated(members: CharSet, low: int, high: int | None) -> str:
    """Write units in a row; beyond ASCII each is up to four bytes of any kind."""
    if not _within(members, _ASCII_END, LAST):
        return _times(_class(members), low, high)
    least = 0 if overlaps(members, SURROGATES) else low
    return _times(_wide(members), least, None if high is None else 4 * high)


def _within(members: CharSet, first: int, last: int) -> CharSet:
    cut = ((max(low, first), min(high, last)) for low, high in members)
    return tuple((low, high) for low, high in cut if low <= high)


def _wide(members: CharSet) -> str:
    return _class((*_within(members, 0, _ASCII_END - 1), (_ASCII_END, 0xFF)))


def _class(members: CharSet) -> str:
    spans = (rf"\x{low:02x}" + (rf"-\x{high:02x}" if high > low else "") for low, high in members)
    text = "".join(spans)
    return text if len(members) == 1 and members[0][0] == members[0][1] else f"[{text}]"


def _bytes(code: int) -> str:
    return "".join(rf"\x{byte:02x}" for byte in chr(code).encode())


def _times(text: str, low: int, high: int | None) -> str:
    if (low, high) == (1, 1):
        return text
    least = min(low, _MOST)
    if high is None or high > _MOST:
        return f"{text}{{{least},}}"
    return f"{text}{{{least},{high}}}"


def _ahead(node: Node, measure: Measure) -> int | None:
    """How many units behind its end can matter to whether `node` matches."""
    match node:
        case Edge(kind):
            return 0 if kind in {Assertion.START, Assertion.LINE_START} else 1
        case Look(body):
            inner, width = _ahead(body, measure), measure.width(body)[1]
            return None if inner is None or width is None else inner + width + 1
        case _:
            reaches = [_ahead(part, measure) for part in children(node)]
            known = [reach for reach in reaches if reach is not None]
            return max(known, default=0) if len(known) == len(reaches) else None
