r"""From tree to the engine's syntax, in three forms.

The *final* form is the pattern. The *streaming* form matches a text only if the pattern matches
every text that begins with it; the *hold* form matches at a place if the pattern could match
there in some text that begins with this one. They are duals: a negative lookahead of one holds
the other. In the hold form `\Z` stands for every place at or behind the end of what is known,
so each unit may be taken there without being seen. A streaming form inside a hold form must
therefore never hold at `\Z`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from rules_engine.dialect.charset import TERMINATORS, WORD
from rules_engine.dialect.errors import MAX_TRANSLATED, DialectError
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
    walk,
)
from rules_engine.dialect.render import folded_letter, only_unit, render_set, render_unit
from rules_engine.dialect.resolve import Resolved, groups_in

NEVER = "(?!)"
_KNOWN = r"(?!\Z)"
_ANY = "(?s:.)"
_LINE_ENDS = render_set(TERMINATORS, ascii_only=True)
_NOT_LINE_ENDS = f"[^{(_LINE_ENDS or '')[1:]}"
_WORD = render_set(WORD, ascii_only=False)


class Form(StrEnum):
    """Which question a translated pattern answers."""

    FINAL = "final"
    STREAMING = "streaming"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Context:
    """Where a node stands.

    `backward`: in a lookbehind, where everything taken is known. `unsure`: a streaming form
    inside a hold form. `first`: no unit was taken yet since the match began.
    """

    form: Form
    backward: bool = False
    unsure: bool = False
    first: bool = True

    @property
    def guesses(self) -> bool:
        """Whether a unit may be taken behind what is known."""
        return self.form is Form.HOLD and not self.backward

    def dual(self) -> Context:
        """Give the place of what stands in a negation here."""
        if self.form is Form.FINAL:
            return replace(self, first=False)
        form = Form.STREAMING if self.form is Form.HOLD else Form.HOLD
        return replace(self, form=form, unsure=self.unsure or form is Form.STREAMING, first=False)


def translate(resolved: Resolved, measure: Measure, form: Form) -> str | None:
    """Translate to one form; None if that form can match nothing."""
    translator = Translator(resolved, measure, ascii_only=is_ascii(resolved.tree))
    body = translator.emit(resolved.tree, Context(form))
    resets = "".join(f"(?P<g{number}>)" for number in sorted(resolved.loose))
    return None if body is None else resets + body


def is_ascii(tree: Node) -> bool:
    """Whether the engine's own ASCII mode can be used: case folding of captures needs Unicode."""
    return not any(isinstance(node, Reference) and node.folded for node in walk(tree))


@dataclass(slots=True)
class Translator:
    """One translation. Every method gives text that can stand in a sequence, or None: never."""

    resolved: Resolved
    measure: Measure
    ascii_only: bool
    marks: int = 0

    def emit(self, node: Node, at: Context) -> str | None:  # noqa: PLR0911 - one return a kind
        """Translate one node."""
        match node:
            case Chars():
                return self._chars(node, at)
            case Sequence(items):
                return self._sequence(items, at)
            case Choice(options):
                return self._choice(options, at)
            case Group(body, number):
                inner = self.emit(body, at)
                return None if inner is None else f"(?P<g{number}>{inner})"
            case Repeat(body):
                return (
                    self._repeat_chars(node, body, at)
                    if isinstance(body, Chars)
                    else self._repeat(node, at)
                )
            case Look():
                return self._look(node, at)
            case Edge(kind):
                return self._edge(kind, at)
            case Reference():
                return self._reference(node, at)
            case Atomic(body):
                return self._atomic(body, at)
            case _:
                assert_never(node)

    def _chars(self, node: Chars, at: Context) -> str | None:
        text = render_set(node.members, ascii_only=self.ascii_only)
        if text is None or not at.guesses or at.first:
            return text
        return rf"(?:{text}|\Z)"

    def _sequence(self, items: tuple[Node, ...], at: Context) -> str | None:
        texts: list[str] = []
        position = 0
        while position < len(items):
            run = self._folded_run(items, position, at)
            if run is not None:
                text, length = run
            else:
                emitted, length = self.emit(items[position], at), 1
                if emitted is None:
                    return None
                text = emitted
            texts.append(text)
            if not isinstance(items[position], Edge | Look):
                at = replace(at, first=False)
            position += length
        return "".join(texts)

    def _folded_run(
        self, items: tuple[Node, ...], start: int, at: Context
    ) -> tuple[str, int] | None:
        """ASCII letters in either case from `start` on, as one string the engine can seek."""
        if at.guesses or not self.ascii_only:
            return None
        text = ""
        end = start
        while end < len(items):
            node = items[end]
            char = _caseless(node) if isinstance(node, Chars) else None
            if char is None or (end == start and not char.isalpha()):
                break
            text += render_unit(ord(char))
            end += 1
        return (f"(?i:{text})", end - start) if end > start + 1 else None

    def _choice(self, options: tuple[Node, ...], at: Context) -> str | None:
        texts = [text for option in options if (text := self.emit(option, at)) is not None]
        return f"(?:{'|'.join(texts)})" if texts else None

    def _repeat_chars(self, node: Repeat, body: Chars, at: Context) -> str | None:
        text = render_set(body.members, ascii_only=self.ascii_only)
        if text is None:
            return None if node.low else ""
        full = text + _quantifier(node.low, node.high, lazy=node.lazy)
        if not at.guesses or node.low == 0 or (at.first and node.low == 1):
            return full
        if node.low == 1:
            return rf"(?:{full}|\Z)"
        return rf"(?:{full}|{text}{_quantifier(int(at.first), node.low - 1, lazy=False)}\Z)"

    def _repeat(self, node: Repeat, at: Context) -> str | None:
        inner = self.emit(node.body, replace(at, first=False))
        if inner is None:
            return None if node.low else ""
        loose = sorted(groups_in(node.body) & self.resolved.loose)
        resets = "".join(f"(?P<g{number}>)" for number in loose)
        once = _ordered([resets, inner], at)
        if self.measure.width(node.body)[0]:
            return f"(?:{once}){_quantifier(node.low, node.high, lazy=node.lazy)}"
        parts = [f"(?:{once}){_quantifier(node.low, node.low, lazy=False)}"] if node.low else []
        if node.high is None or node.high > node.low:
            more = None if node.high is None else node.high - node.low
            taking = self._taking(once, at)
            parts.append(f"(?:{taking}){_quantifier(0, more, lazy=node.lazy)}")
        return _checked(_ordered(parts, at))

    def _taking(self, once: str, at: Context) -> str:
        """`once`, but not where it takes nothing: the rest of the text must have changed."""
        self.marks += 1
        mark = f"p{self.marks}"
        return _ordered([f"(?=(?P<{mark}>{_ANY}*))", once, rf"(?!(?P={mark})\Z)"], at)

    def _look(self, node: Look, at: Context) -> str | None:
        inside = at.dual() if node.negative else at
        inner = self.emit(
            node.body, replace(inside, backward=not node.ahead, first=inside.first and node.ahead)
        )
        if inner is None:
            return "" if node.negative else None
        if not inner:
            return None if node.negative else ""
        mark = ("?" if node.ahead else "?<") + ("!" if node.negative else "=")
        text = f"({mark}{inner})"
        return text if node.ahead else self._place(text, at)

    def _place(self, text: str, at: Context) -> str:
        """Condition what stands in front: unknown where the place itself is unknown."""
        if at.guesses and not at.first:
            return rf"(?:{text}|\Z)"
        return text + _KNOWN if at.form is Form.STREAMING and at.unsure else text

    def _edge(self, kind: Assertion, at: Context) -> str | None:
        match kind:
            case Assertion.START:
                # Behind the known text is never its beginning, so the hold form needs no guess.
                return r"\A" + (_KNOWN if at.form is Form.STREAMING and at.unsure else "")
            case Assertion.END:
                return None if at.form is Form.STREAMING else r"\Z"
            case Assertion.LINE_START:
                return self._place(f"(?<!{_NOT_LINE_ENDS})", at)
            case Assertion.LINE_END:
                streaming = at.form is Form.STREAMING
                return f"(?={_LINE_ENDS})" if streaming else f"(?!{_NOT_LINE_ENDS})"
            case Assertion.WORD_EDGE | Assertion.NO_WORD_EDGE:
                return self._word_edge(at, inside=kind is Assertion.NO_WORD_EDGE)
            case _:
                assert_never(kind)

    def _word_edge(self, at: Context, *, inside: bool) -> str:
        text = self._word_edge_text(inside=inside)
        match at.form:
            case Form.FINAL:
                return text
            case Form.STREAMING:
                return text + _KNOWN
            case Form.HOLD:
                return text if at.first and not at.backward else rf"(?:{text}|\Z)"
            case _:
                assert_never(at.form)

    def _word_edge_text(self, *, inside: bool) -> str:
        if self.ascii_only:
            return r"\B" if inside else r"\b"
        equal, other = ("=", "!") if inside else ("!", "=")
        return f"(?:(?<={_WORD})(?{equal}{_WORD})|(?<!{_WORD})(?{other}{_WORD}))"

    def _reference(self, node: Reference, at: Context) -> str | None:
        texts = [self._captured(number, at, folded=node.folded) for number in node.numbers]
        known = [text for text in texts if text is not None]
        return "".join(known) if len(known) == len(texts) else None

    def _captured(self, number: int, at: Context, *, folded: bool) -> str | None:
        text = f"(?P=g{number})"
        text = f"(?i:{text})" if folded else text
        widest = self.measure.captured(number)
        unstable = number in self.resolved.unstable
        match at.form:
            case Form.FINAL:
                return text
            case Form.STREAMING:
                return None if unstable else text + (_KNOWN if at.unsure else "")
            case Form.HOLD:
                if unstable:
                    return _ANY + _quantifier(0, widest, lazy=False)
                if at.backward:
                    return text
                less = None if widest is None else max(widest - 1, 0)
                return rf"(?:{text}|{_ANY}{_quantifier(0, less, lazy=False)}\Z)"
            case _:
                assert_never(at.form)

    def _atomic(self, body: Node, at: Context) -> str | None:
        if at.form is Form.STREAMING:
            return None
        inner = self.emit(body, at)
        if inner is None:
            return None
        return f"(?>{inner})" if at.form is Form.FINAL else f"(?:{inner})"


def _caseless(node: Chars) -> str | None:
    """Give the character of a set that is the same in either case."""
    letter = folded_letter(node.members)
    if letter is not None:
        return letter
    code = only_unit(node.members)
    return (
        chr(code) if code is not None and chr(code).isascii() and not chr(code).isalpha() else None
    )


def _ordered(parts: list[str], at: Context) -> str:
    """Parts in the order in which they are to be matched, which a lookbehind reads backwards."""
    return "".join(reversed(parts) if at.backward else parts)


def _quantifier(low: int, high: int | None, *, lazy: bool) -> str:
    if (low, high) == (1, 1):
        return ""
    mark = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
    if mark is None:
        mark = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
    return mark + ("?" if lazy and low != high else "")


def _checked(text: str) -> str:
    """Pass the text on, unless nested repeats of possibly empty parts have blown it up."""
    if len(text) > MAX_TRANSLATED:
        raise DialectError(
            "repeats of parts that may be empty are nested too deep; make the inner ones non-empty"
        )
    return text
