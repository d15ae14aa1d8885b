"""From source to syntax tree: ECMAScript 2025 without the `u` and `v` flags, with Annex B.

`extended` also takes what only the engine has and what can be mixed in: atomic groups,
possessive quantifiers, `(?P<name>…)`, `(?P=name)` and comments.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rules_engine.dialect.charset import ALL, DOT, CharSet, single
from rules_engine.dialect.classes import read_class
from rules_engine.dialect.errors import MAX_LOOPS, MAX_NESTING, MAX_REPEAT, MAX_UNROLLED
from rules_engine.dialect.escapes import DECIMAL, read_atom_escape
from rules_engine.dialect.folding import fold
from rules_engine.dialect.names import Branch, Census, may_share, read_name, take_census
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
    children,
)
from rules_engine.dialect.source import Cursor

_LONGEST_COUNT = 12
# Zero-width parts that may still be repeated: lookaheads, and whatever stands in a group.
_REPEATABLE = ("(?=", "(?!", "(?:", "(?i", "(?m", "(?s", "(?-", "(?#")
_LOOKS = (("?=", True, False), ("?!", True, True), ("?<=", False, False), ("?<!", False, True))


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags in force at a place."""

    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False

    def switched(self, letters: str, *, on: bool) -> Flags:
        """Apply a modifier to these flags."""
        return Flags(
            on if "i" in letters else self.ignore_case,
            on if "m" in letters else self.multiline,
            on if "s" in letters else self.dot_all,
        )


@dataclass(frozen=True, slots=True)
class Quantifier:
    """What stands behind an atom."""

    low: int
    high: int | None
    lazy: bool = False
    possessive: bool = False


def parse(source: str, flags: Flags, *, base: int = 0, extended: bool = False) -> Node:
    """Parse `source` to its tree. Raises DialectError; `base` is added to its offset."""
    cursor = Cursor(source, base)
    parser = Parser(cursor, take_census(Cursor(source, base)), flags, extended)
    node = parser.read_choice()
    if cursor.more:
        raise cursor.error(r"this ) closes nothing; remove it or write \)")
    if _nested_loops(node) > MAX_LOOPS:
        raise cursor.limit(f"repeats may be nested {MAX_LOOPS} deep; make some optional", 0)
    if _unrolled(node) > MAX_UNROLLED:
        raise cursor.limit("its counts multiply to too long a pattern; lower one", 0)
    return node


def _unrolled(node: Node) -> int:
    """How many parts the pattern has when everything that must repeat is written out."""
    size = 1 + sum(map(_unrolled, children(node)))
    return size * max(node.low, 1) if isinstance(node, Repeat) else size


def _nested_loops(node: Node) -> int:
    """How deep repeats of groups that must be there stand in each other."""
    below = max(map(_nested_loops, children(node)), default=0)
    return below + (isinstance(node, Repeat) and node.low > 0 and not isinstance(node.body, Chars))


@dataclass(slots=True)
class Parser:
    """One pass over one pattern."""

    cursor: Cursor
    census: Census
    flags: Flags
    extended: bool
    named: dict[str, list[Branch]] = field(default_factory=dict)
    branch: Branch = ()
    groups: int = 0
    choices: int = 0
    depth: int = 0

    def read_choice(self) -> Node:
        """Alternatives up to a closing bracket or the end."""
        outer = self.branch
        self.choices += 1
        number = self.choices
        options: list[Node] = []
        while True:
            self.branch = (*outer, (number, len(options)))
            options.append(self._read_sequence())
            if not self.cursor.skip("|"):
                break
        self.branch = outer
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _read_sequence(self) -> Node:
        items: list[Node] = []
        while self.cursor.more and self.cursor.char not in "|)":
            items.append(self._read_term())
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _read_term(self) -> Node:
        start = self.cursor.at
        node = self._read_atom()
        at = self.cursor.at
        quantifier = self._read_quantifier()
        if quantifier is None:
            return node
        what = self.cursor.units[start:at]
        if isinstance(node, Edge | Look) and not what.startswith(_REPEATABLE):
            raise self.cursor.error(f"{what} cannot be repeated; remove the quantifier", at)
        return _repeat(node, quantifier)

    def _read_atom(self) -> Node:  # noqa: PLR0911 - one return a kind
        cursor = self.cursor
        start = cursor.at
        if self._read_quantifier() is not None:
            raise cursor.error("there is nothing to repeat here; escape it with a backslash", start)
        match cursor.take():
            case "^":
                line = self.flags.multiline
                return Edge(Assertion.LINE_START if line else Assertion.START)
            case "$":
                return Edge(Assertion.LINE_END if self.flags.multiline else Assertion.END)
            case "(":
                return self._read_bracket(start)
            case ".":
                return Chars(ALL if self.flags.dot_all else DOT)
            case "[":
                ignore_case, named = self.flags.ignore_case, bool(self.census.names)
                return Chars(read_class(cursor, ignore_case=ignore_case, named=named))
            case "\\":
                return self._read_escape()
            case char:
                return self._chars(single(ord(char)))

    def _chars(self, members: CharSet) -> Node:
        return Chars(fold(members) if self.flags.ignore_case else members)

    def _read_escape(self) -> Node:
        cursor = self.cursor
        if cursor.skip("b"):
            return Edge(Assertion.WORD_EDGE)
        if cursor.skip("B"):
            return Edge(Assertion.NO_WORD_EDGE)
        if self.census.names and cursor.skip("k"):
            if not cursor.skip("<"):
                raise cursor.error(r"\k needs a group's name: \k<name>", cursor.at - 2)
            return self._refer(read_name(cursor), cursor.at)
        if cursor.more and cursor.char in "123456789":
            start = cursor.at
            number = int(cursor.take_while(DECIMAL, _LONGEST_COUNT))
            if number <= self.census.groups:
                return Reference((number,), self.flags.ignore_case)
            cursor.at = start
        return self._chars(read_atom_escape(cursor))

    def _refer(self, name: str, at: int) -> Node:
        numbers = self.census.names.get(name)
        if numbers is None:
            raise self.cursor.error(f"no group is named {name}", at)
        return Reference(numbers, self.flags.ignore_case)

    def _read_bracket(self, start: int) -> Node:
        cursor = self.cursor
        self.depth += 1
        if self.depth > MAX_NESTING:
            limit = f"brackets may be nested {MAX_NESTING} deep; split the pattern"
            raise cursor.limit(limit, start)
        node = self._read_group(start) if cursor.sees("?") else self._capture()
        self.depth -= 1
        return node

    def _close(self, start: int) -> None:
        if not self.cursor.skip(")"):
            raise self.cursor.error(r"this bracket is not closed; add ) or write \(", start)

    def _body(self) -> Node:
        start = self.cursor.at
        flags = self.flags
        node = self.read_choice()
        self.flags = flags
        self._close(start - 1)
        return node

    def _capture(self, name: str | None = None) -> Node:
        self.groups += 1
        number = self.groups
        if name is not None:
            self._register(name)
        return Group(self._body(), number)

    def _register(self, name: str) -> None:
        branches = self.named.setdefault(name, [])
        if not all(may_share(branch, self.branch) for branch in branches):
            raise self.cursor.error(
                f"the group name {name} is used twice; only alternatives may share a name"
            )
        branches.append(self.branch)

    def _read_group(self, start: int) -> Node:
        cursor = self.cursor
        for mark, ahead, negative in _LOOKS:
            if cursor.skip(mark):
                return Look(self._body(), ahead, negative)
        if cursor.skip("?:"):
            return self._body()
        if cursor.skip("?<") or (self.extended and cursor.skip("?P<")):
            return self._capture(read_name(cursor))
        return (self._read_extension() if self.extended else None) or self._read_modifier(start)

    def _read_extension(self) -> Node | None:
        cursor = self.cursor
        if cursor.skip("?>"):
            return Atomic(self._body())
        if cursor.skip("?P="):
            start = cursor.at
            end = cursor.units.find(")", start)
            if end >= 0:
                cursor.at = end + 1
                return self._refer(cursor.units[start:end], start)
        if cursor.skip("?#"):
            start = cursor.at
            cursor.at = max(cursor.units.find(")", start), start)
            self._close(start)
            return EMPTY
        return None

    def _read_modifier(self, start: int) -> Node:
        cursor = self.cursor
        cursor.skip("?")
        on = cursor.take_while("ims", 4)
        off = cursor.take_while("ims", 4) if cursor.skip("-") else ""
        if not cursor.skip(":") or not on + off or len(set(on + off)) != len(on + off):
            raise cursor.error(
                "this kind of group does not exist; there are (?:…), (?<name>…), "
                "(?=…), (?!…), (?<=…), (?<!…) and (?ims-ims:…)",
                start,
            )
        outer = self.flags
        self.flags = outer.switched(on, on=True).switched(off, on=False)
        node = self._body()
        self.flags = outer
        return node

    def _read_quantifier(self) -> Quantifier | None:
        cursor = self.cursor
        start = cursor.at
        bounds = self._read_bounds()
        if bounds is None:
            return None
        low, high = bounds
        if high is not None and high < low:
            raise cursor.error("this quantifier's numbers are out of order; swap them", start)
        if max(low, high or 0) > MAX_REPEAT:
            raise cursor.limit(f"a quantifier may count to {MAX_REPEAT}; leave the end open", start)
        lazy = cursor.skip("?")
        possessive = self.extended and not lazy and cursor.skip("+")
        return Quantifier(low, high, lazy, possessive)

    def _read_bounds(self) -> tuple[int, int | None] | None:
        cursor = self.cursor
        for mark, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if cursor.skip(mark):
                return low, high
        start = cursor.at
        if cursor.skip("{"):
            least = cursor.take_while(DECIMAL, len(cursor.units))
            comma = cursor.skip(",")
            most = cursor.take_while(DECIMAL, len(cursor.units)) if comma else least
            if least and cursor.skip("}"):
                return _count(least), _count(most) if most else None
        cursor.at = start
        return None


def _count(digits: str) -> int:
    # Longer numbers are over every limit, and Python refuses to read very long ones.
    return int(digits.lstrip("0")[:_LONGEST_COUNT] or "0")


def _repeat(node: Node, quantifier: Quantifier) -> Node:
    """Make the repetition; one that can never take anything is resolved at once.

    An optional repetition of an empty match is never made in ECMAScript.
    """
    if quantifier.high == 0 or (isinstance(node, Look) and quantifier.low == 0):
        return EMPTY
    if isinstance(node, Look):
        return node
    repeat = Repeat(node, quantifier.low, quantifier.high, quantifier.lazy)
    return Atomic(repeat) if quantifier.possessive else repeat
