"""Windows whose work is counted: searches by the confirming engine, characters that they go over.

What is counted depends on the code alone, never on the machine, so a test may hold it to a limit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from types import FrameType
from typing import Any, cast

import regex

from bench.engine import SYLLABLES, pieces
from rules_engine.dialect import Pattern, compile_pattern
from rules_engine.matcher import Matcher
from rules_engine.triggers.pattern import PatternTrigger
from rules_engine.windows import Watch, Window
from tests.support.window_trials import live_rule

MOST_RULES = 320
# As in real rule files, many begin alike: with a keyword, a colon, a comment.
_SHAPES = (
    r"\b{a}\s*\(",
    r"(?i)\b{a}\s+{b}\b",
    r":\s*{a}\b",
    r"{a}\.{b}\(",
    r"import\s+{a}\s+from",
    r"<{a}[^>]*{b}=",
    r"//\s*{a}:?\s{b}",
    r"as\s+{a}\[",
)
_SENTENCE = (
    *("the", "value", "of", "this", "is", "a", "list", "and", "that", "would", "not", "fail", "in"),
    *("for", "with", "function", "return", "const", "let", "name", "string", "number", "items"),
    *("we", "can", "then", "use", "it", "here", "import", "export", "class", "type"),
)


@dataclass(slots=True)
class Work:
    """Counted so far. `characters`: how many lay between the floor and the end of each search."""

    searches: int = 0
    characters: int = 0

    def __call__(self, _frame: FrameType, event: str, called: Any) -> None:
        """Count as a profiler: each call into the engine, wherever it comes from."""
        if event == "c_call" and isinstance(getattr(called, "__self__", None), regex.Pattern):
            self.searches += 1

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count what is done meanwhile on this thread."""
        before = sys.getprofile()
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(before)


class _Measured:
    """A compiled pattern that adds up how much text its searches go over."""

    def __init__(self, compiled: regex.Pattern[str], work: Work) -> None:
        self._compiled = compiled
        self._work = work
        self.pattern, self.flags = compiled.pattern, compiled.flags

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)

    def search(self, text: str, start: int = 0, end: int | None = None, **limit: float) -> Any:
        end = len(text) if end is None else end
        self._work.characters += max(0, end - start)
        return self._compiled.search(text, start, end, **limit)


@dataclass(frozen=True, slots=True)
class Rules:
    """So many rules of each shape, and the words that they are about."""

    watches: tuple[Watch, ...]
    matcher: Matcher
    words: tuple[str, ...]
    work: Work

    @classmethod
    def of(cls, count: int, backend: str, *, holds: bool) -> Rules:
        """The first `count` of the rules that there are; `backend` as the matcher's scanner."""
        work = Work()
        triggers = [_measured(pattern, work) for pattern in _patterns()[:count]]
        watches = tuple(
            Watch(replace(live_rule(f"r{n}", ["x"]), patterns=(trigger,)), holds)
            for n, trigger in enumerate(triggers)
        )
        matcher = Matcher(_patterns()[:count])
        if backend == "hyperscan":
            matcher.adopt(matcher.compile())
        matcher.bunch()
        matcher.bunches = tuple(
            replace(bunch, trigger=_measured(bunch.trigger.pattern, work))
            for bunch in matcher.bunches
        )
        return cls(watches, matcher, _words(), work)

    def feed(self, text: str) -> tuple[Window, float]:
        """Let a new window read a text; also gives the searches for each delta of it."""
        window = Window(self.watches, matcher=self.matcher)
        deltas = deltas_of(text)
        before = self.work.searches
        with self.work.counted():
            for delta in deltas:
                window.feed(delta)
                window.hold()
        return window, (self.work.searches - before) / len(deltas)


def _measured(pattern: Pattern, work: Work) -> PatternTrigger:
    def form(compiled: regex.Pattern[str]) -> regex.Pattern[str]:
        return cast("regex.Pattern[str]", _Measured(compiled, work))

    streaming = pattern.streaming
    return PatternTrigger(
        replace(
            pattern,
            final=form(pattern.final),
            streaming=streaming and form(streaming),
            hold=form(pattern.hold),
        )
    )


@cache
def _words() -> tuple[str, ...]:
    rng = Random(5)
    made = ("".join(rng.choices(SYLLABLES, k=rng.randint(3, 5))) for _ in range(2 * MOST_RULES))
    return tuple(made)


@cache
def _patterns() -> tuple[Pattern, ...]:
    pairs = zip(_words()[::2], _words()[1::2], strict=True)
    shaped = (
        _SHAPES[number % len(_SHAPES)].format(a=a, b=b) for number, (a, b) in enumerate(pairs)
    )
    return tuple(map(compile_pattern, shaped))


def clean_text(size: int, words: Sequence[str]) -> str:
    """Text in which no rule hits, with beginnings of the words, cut short."""
    rng = Random(6)
    text = ""
    while len(text) < size:
        near = rng.choice(words)
        cut = near[: rng.randint(2, len(near) - 1)]
        text += (cut if rng.random() < 0.15 else rng.choice(_SENTENCE)) + rng.choice("  \n.,:(")
    return text[:size]


def hostile_text(size: int, words: Sequence[str]) -> str:
    """Text full of whole beginnings and of longer words than the rules', so that none hits."""
    rng = Random(7)
    heads = ("import ", "import  ", ": ", "// ", " as ", "<", "import :", "// as : ")
    text = ""
    while len(text) < size:
        text += rng.choice(heads) + rng.choice(words) + rng.choice(("x.", "x-", "x>", "x=\n"))
    return text[:size]


def deltas_of(text: str) -> list[str]:
    """Cut a text into deltas of 4 to 32 characters, always in the same way."""
    return pieces(text, seed=8)
