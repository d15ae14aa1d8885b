"""ECMAScript patterns: parse, analyse, translate to the three forms.

The dialect is that of `new RegExp(source)` in ECMAScript 2025 without the `u` and `v` flags,
Annex B included, and a leading group of flags as rule files write it: `(?i)`, `(?ims)`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import regex

from rules_engine.dialect.errors import MAX_SOURCE, DialectError, TooLargeError
from rules_engine.dialect.literals import find_literals
from rules_engine.dialect.measure import Measure, counts_units
from rules_engine.dialect.merge import merge
from rules_engine.dialect.native import HOLD_EVERYTHING, compile_native
from rules_engine.dialect.nodes import Group, Node, Reference, walk
from rules_engine.dialect.parse import Flags, parse
from rules_engine.dialect.prefilter import Prefilter, find_prefilter
from rules_engine.dialect.resolve import Resolved, resolve
from rules_engine.dialect.risk import assess, explodes
from rules_engine.dialect.translate import NEVER, Form, is_ascii, translate
from rules_engine.dialect.trim import trim

__all__ = ["DialectError", "Pattern", "Together", "compile_holds", "compile_pattern"]

_LEADING_FLAGS = re.compile(r"\(\?([imsu]+)\)")

NOTE_BACKSPACE = (
    r"it holds a backspace, which YAML makes of \b in double quotes; in single quotes it stays \b"
)
NOTE_UNICODE = "the u flag is dropped: patterns are read without it"
NOTE_EXTENDED = (
    "this is not ECMAScript: its atomic or possessive parts, (?P<…>) groups or comments are "
    "taken as the engine understands them"
)
NOTE_NATIVE = (
    "this is not ECMAScript: it is taken as the engine understands it, and decided only when "
    "the output has ended"
)
NOTE_TRIMMED = (
    "leading repeats are cut to what they must take (`a+` to `a`, `.*` to nothing): no hit changes"
)
NOTE_FOLDED = (
    "its case-blind back-reference follows Unicode, not JavaScript, for a few rare letters "
    "(it takes the long s for s, the Kelvin sign for k)"
)
NOTE_LATE = "it can be decided only when the output has ended"
NOTE_UNBOUNDED = "a match may be of any length, so much output may be held for it"
NOTE_EXPLODES = (
    "the time that it takes grows exponentially with the text; make its nested repeats exclude "
    "each other, or it will be set aside when it exceeds its time"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One compiled pattern. Widths are in UTF-16 code units.

    `streaming` is None where only the end decides. `behind`: how many units in front of a
    match's start can matter to it (None: all). `literals`: every match contains one of them;
    `prefixes`: every match begins with one; empty means unknown, `folded` that both are in
    small letters and ASCII case is to be ignored. `in_units`: astral characters must be split
    into halves before a search. `patience`: texts up to this length need no time limit.
    `native`: in the engine's own syntax, not ECMAScript's. `prefilter`: a wider pattern for a
    scanner, None where it would report everything.
    """

    source: str
    final: regex.Pattern[str]
    streaming: regex.Pattern[str] | None
    hold: regex.Pattern[str]
    min_width: int
    max_width: int | None
    line_bounded: bool
    literals: tuple[str, ...]
    folded: bool
    matches_empty: bool
    notes: tuple[str, ...]
    prefixes: tuple[str, ...] = ()
    behind: int | None = None
    in_units: bool = False
    patience: int = 0
    native: bool = False
    prefilter: Prefilter | None = None


def compile_pattern(source: str) -> Pattern:
    """Compile one condition. Raises DialectError, and nothing else, on any string.

    It differs from JavaScript in three ways: there are limits (`errors.py`), a leading run that
    changes no hit is not part of the match, and a case-blind back-reference compares a few rare
    letters as Unicode does. Syntax that JavaScript rejects and the engine has is taken, with a
    note.
    """
    if len(source) > MAX_SOURCE:
        raise DialectError(
            f"the pattern is {len(source)} characters long; {MAX_SOURCE} are allowed", MAX_SOURCE
        )
    body, letters, flags = _flagged(source)
    notes = [NOTE_UNICODE] if "u" in letters else []
    if "\b" in source:
        notes.append(NOTE_BACKSPACE)
    base = len(source) - len(body)
    try:
        try:
            tree = parse(body, flags, base=base)
        except TooLargeError:
            raise
        except DialectError as rejected:
            return _compile_foreign(source, body, letters, flags, notes, rejected)
        return compile_tree(source, tree, notes)
    except RecursionError:
        raise DialectError("the pattern is nested too deep; split it") from None


def _flagged(source: str) -> tuple[str, str, Flags]:
    """Take off the leading group of flags; gives the rest, its letters and what they mean."""
    leading = _LEADING_FLAGS.match(source)
    letters = leading[1] if leading else ""
    body = source[leading.end() :] if leading else source
    return body, letters, Flags().switched(letters.replace("u", ""), on=True)


class Together(NamedTuple):
    """One pattern in the place of several: of those of the given sources that are `taken`."""

    pattern: Pattern
    taken: tuple[int, ...]


def compile_holds(sources: Sequence[str]) -> Together | None:
    """Make one pattern of several, to be asked in one search from where on any may still match.

    Its hold form matches where one of theirs does. Nothing else of it is of use: its other forms
    match nothing. Left out is foreign syntax, what may take long, and what repeats a capture;
    None if that leaves nothing.
    """
    trees = {at: tree for at, source in enumerate(sources) if (tree := _mergeable(source))}
    if not trees:
        return None
    together = merge(trees.values())
    measure = Measure.of(together)
    resolved = Resolved(together, frozenset(), frozenset())
    never = regex.compile(NEVER)
    pattern = Pattern(
        source="",
        final=never,
        streaming=None,
        hold=_compile(resolved, measure, Form.HOLD) or never,
        min_width=0,
        max_width=None,
        line_bounded=False,
        literals=(),
        folded=False,
        matches_empty=False,
        notes=(),
        behind=measure.behind(together),
        in_units=counts_units(together),
        patience=assess(together).patience,
    )
    return Together(pattern, tuple(trees))


def _mergeable(source: str) -> Node | None:
    body, _, flags = _flagged(source)
    try:
        tree = trim(resolve(parse(body, flags)).tree)
    except (DialectError, RecursionError):
        return None
    captures = any(isinstance(node, Group | Reference) for node in walk(tree))
    return None if captures or assess(tree).loops else tree


def _compile_foreign(  # noqa: PLR0917 - the parts of one source
    source: str,
    body: str,
    letters: str,
    flags: Flags,
    notes: list[str],
    rejected: DialectError,
) -> Pattern:
    """Take what ECMAScript rejects, if the engine has it."""
    try:
        tree = parse(body, flags, base=len(source) - len(body), extended=True)
    except TooLargeError:
        raise
    except DialectError:
        native = compile_native(body, letters.replace("u", ""), rejected)
        return _decided_late(source, native, [*notes, NOTE_NATIVE])
    return compile_tree(source, tree, [*notes, NOTE_EXTENDED])


def _decided_late(source: str, native: regex.Pattern[str], notes: list[str]) -> Pattern:
    return Pattern(
        source=source,
        final=native,
        streaming=None,
        hold=regex.compile(HOLD_EVERYTHING),
        min_width=0,
        max_width=None,
        line_bounded=False,
        literals=(),
        folded=False,
        matches_empty=native.search("") is not None,
        notes=tuple(notes),
        native=True,
    )


def compile_tree(source: str, tree: Node, notes: list[str], *, trimmed: bool = True) -> Pattern:
    """Compile a parsed pattern. `trimmed` False keeps a leading run that changes no hit."""
    resolved = resolve(tree)
    if trimmed:
        shorter = trim(resolved.tree)
        if shorter != resolved.tree:
            resolved = Resolved(shorter, resolved.loose, resolved.unstable)
            notes = [*notes, NOTE_TRIMMED]
    return _assemble(source, resolved, notes)


def _assemble(source: str, resolved: Resolved, notes: list[str]) -> Pattern:
    tree = resolved.tree
    measure = Measure.of(tree)
    final, streaming, hold = (_compile(resolved, measure, form) for form in Form)
    literals = find_literals(tree)
    risk = assess(tree)
    low, high = measure.width(tree)
    late = [NOTE_LATE] if streaming is None else []
    unbounded = [NOTE_UNBOUNDED] if high is None else []
    final = final or regex.compile(NEVER)
    folded = [] if is_ascii(tree) else [NOTE_FOLDED]
    exploding = [NOTE_EXPLODES] if explodes(final, tree, risk.loops) else []
    return Pattern(
        source=source,
        final=final,
        streaming=streaming,
        hold=hold or regex.compile(NEVER),
        min_width=low,
        max_width=high,
        line_bounded=measure.line_bounded(tree),
        literals=literals.contained,
        folded=literals.folded,
        matches_empty=final.search("") is not None,
        notes=(*notes, *folded, *late, *unbounded, *exploding),
        prefixes=literals.prefixes,
        behind=measure.behind(tree),
        in_units=counts_units(tree),
        patience=risk.patience,
        prefilter=find_prefilter(tree, measure),
    )


def _compile(resolved: Resolved, measure: Measure, form: Form) -> regex.Pattern[str] | None:
    text = translate(resolved, measure, form)
    if text is None:
        return None
    flags = regex.VERSION0 | (regex.ASCII if is_ascii(resolved.tree) else regex.UNICODE)
    try:
        return regex.compile(text, flags)
    except (regex.error, OverflowError, MemoryError) as error:
        raise DialectError(f"the engine cannot take this pattern ({error}); simplify it") from error
