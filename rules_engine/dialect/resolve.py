"""Captures made static: which groups are referred to, which references can ever be set.

A reference to an unset group matches nothing in ECMAScript, so one that can never be set is
dropped, and with it every group that nothing refers to.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import assert_never

from rules_engine.dialect.nodes import (
    EMPTY,
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
    sequence,
    walk,
)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A tree whose references are all meant.

    `loose`: groups that a reference may meet unset, so they need to be reset explicitly.
    `unstable`: groups captured in a lookaround whose capture more text may change.
    """

    tree: Node
    loose: frozenset[int]
    unstable: frozenset[int]


def resolve(tree: Node) -> Resolved:
    """Drop what no match depends on."""
    survey = _Survey()
    survey.locate(tree, ())
    pruned = survey.prune(tree, (), frozenset())
    referred = {n for node in walk(pruned) if isinstance(node, Reference) for n in node.numbers}
    plain = _strip(pruned, frozenset(referred))
    loose: set[int] = set()
    _dominate(plain, frozenset(), loose, backward=False)
    return Resolved(plain, frozenset(loose), frozenset(survey.unstable))


@dataclass(slots=True)
class _Survey:
    """Where every group stands. A place is the lookarounds around it, outermost first."""

    places: dict[int, tuple[Look, ...]] = field(default_factory=dict)
    unstable: set[int] = field(default_factory=set)

    def locate(self, node: Node, looks: tuple[Look, ...]) -> None:
        match node:
            case Group(body, number):
                self.places[number] = looks
                self.locate(body, looks)
            case Look(body):
                self.locate(body, (*looks, node))
            case Sequence(parts) | Choice(parts):
                for part in parts:
                    self.locate(part, looks)
            case Repeat() | Atomic():
                self.locate(node.body, looks)
            case Chars() | Edge() | Reference():
                pass
            case _:
                assert_never(node)

    def prune(  # noqa: PLR0911 - one return a kind
        self, node: Node, looks: tuple[Look, ...], inside: frozenset[int]
    ) -> Node:
        match node:
            case Reference(numbers):
                alive = tuple(n for n in numbers if n not in inside and self._may_be_set(n, looks))
                return replace(node, numbers=alive) if alive else EMPTY
            case Group(body, number):
                return replace(node, body=self.prune(body, looks, inside | {number}))
            case Look(body):
                return replace(node, body=self.prune(body, (*looks, node), inside))
            case Sequence(items):
                return Sequence(tuple(self.prune(item, looks, inside) for item in items))
            case Choice(options):
                return Choice(tuple(self.prune(option, looks, inside) for option in options))
            case Repeat() | Atomic():
                return replace(node, body=self.prune(node.body, looks, inside))
            case Chars() | Edge():
                return node
            case _:
                assert_never(node)

    def _may_be_set(self, number: int, looks: tuple[Look, ...]) -> bool:
        place = self.places.get(number)
        if place is None:
            return False
        shared = sum(1 for mine, theirs in zip(looks, place, strict=False) if mine is theirs)
        left = place[shared:]
        if any(look.negative for look in left):
            return False
        if any(look.ahead or _looks_ahead(look.body) for look in left):
            self.unstable.add(number)
        return True


def _looks_ahead(node: Node) -> bool:
    """Whether more text could change how this lookbehind's body matches."""
    settled = {Assertion.START, Assertion.LINE_START}
    return any(
        (isinstance(part, Look) and part.ahead)
        or isinstance(part, Reference | Atomic)
        or (isinstance(part, Edge) and part.kind not in settled)
        for part in walk(node)
    )


def _strip(node: Node, referred: frozenset[int]) -> Node:
    match node:
        case Group(body, number):
            body = _strip(body, referred)
            return Group(body, number) if number in referred else body
        case Sequence(items):
            return sequence(_strip(item, referred) for item in items)
        case Choice(options):
            return Choice(tuple(_strip(option, referred) for option in options))
        case Repeat() | Look() | Atomic():
            return replace(node, body=_strip(node.body, referred))
        case Chars() | Edge() | Reference():
            return node
        case _:
            assert_never(node)


def _dominate(  # noqa: PLR0911 - one return a kind
    node: Node, set_: frozenset[int], loose: set[int], *, backward: bool
) -> frozenset[int]:
    """Give the groups surely set behind `node`, in order of matching; collect loose ones."""
    match node:
        case Reference(numbers):
            loose.update(number for number in numbers if number not in set_)
            return set_
        case Group(body, number):
            return _dominate(body, set_, loose, backward=backward) | {number}
        case Sequence(items):
            for item in reversed(items) if backward else items:
                set_ = _dominate(item, set_, loose, backward=backward)
            return set_
        case Choice(options):
            ends = [_dominate(option, set_, loose, backward=backward) for option in options]
            return frozenset.intersection(*ends)
        case Repeat(body, low):
            start = set_ - groups_in(body)
            end = _dominate(body, start, loose, backward=backward)
            return end if low else start
        case Look(body, ahead, negative):
            end = _dominate(body, set_, loose, backward=not ahead)
            return set_ if negative else end
        case Atomic(body):
            return _dominate(body, set_, loose, backward=backward)
        case Chars() | Edge():
            return set_
        case _:
            assert_never(node)


def groups_in(node: Node) -> frozenset[int]:
    """Collect the numbers of the groups in `node`."""
    return frozenset(part.number for part in walk(node) if isinstance(part, Group))
