"""The dialect against a JavaScript engine, pattern by pattern and text by text.

A long run: `python -m tests.rules_engine.dialect.differential --pairs 1000000 --seed 1`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import regex

from rules_engine.dialect import DialectError
from rules_engine.dialect.measure import Measure
from rules_engine.dialect.nodes import Node
from rules_engine.dialect.parse import Flags, parse
from rules_engine.dialect.resolve import Resolved, resolve
from rules_engine.dialect.translate import NEVER, Form, is_ascii, translate
from rules_engine.dialect.trim import trim
from rules_engine.dialect.units import split_units
from tests.rules_engine.dialect.grammar import BROAD, SMALL, Grammar
from tests.rules_engine.dialect.node import Answer, ask_node

# V8 forgets to fold a class in an alternative under a modifier: /(?i:x|[a-c])/ misses "B", which
# /(?:x|[a-c])/i finds, and /(?-i:x|[^A-Z])/i misses "u", which /(?-i:[^A-Z])/i finds. A
# difference on such a pattern is not one of the dialect.
_UNFOLDED_BY_V8 = re.compile(r"\(\?(?=[ms-]*i)[ims]*(?:-[ims]*)?:.*\|", re.DOTALL)
# Case-blind references compare as Unicode does; these letters then equal more than in JavaScript.
_RARE = frozenset("\u017f\u212a\u212b\u1e9e\u03f4\u2126\u0130\u0131")

TEXTS = 12
_BATCH = 2_000
_LIMIT = 5.0


@dataclass(frozen=True, slots=True)
class Case:
    """One pattern and the texts to search."""

    source: str
    flags: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Where the two engines differ. `theirs` and `ours`: a span, None, or why it is rejected."""

    source: str
    flags: str
    text: str
    theirs: object
    ours: object


def make_cases(seed: int, count: int) -> list[Case]:
    """Write patterns with their texts."""
    rng = Random(seed)
    return [_make_case(rng) for _ in range(count)]


def _make_case(rng: Random) -> Case:
    words = rng.choice((SMALL, BROAD, BROAD))
    grammar = Grammar(rng, words, odd=0.1 if words is BROAD else 0.0)
    source = grammar.pattern(rng.choice((1, 2, 3)))
    flags = "".join(flag for flag in "ims" if rng.random() < 0.3)
    return Case(source, flags, tuple(grammar.text(8) for _ in range(TEXTS)))


def compare(cases: list[Case]) -> Iterator[Disagreement]:
    """Ask both engines."""
    asked = [(case.source, case.flags, list(case.texts)) for case in cases]
    for case, answer in zip(cases, ask_node(asked), strict=True):
        yield from _compare_one(case, answer)


def _compare_one(case: Case, answer: Answer) -> Iterator[Disagreement]:
    try:
        tree = parse(case.source, Flags().switched(case.flags, on=True))
    except DialectError as error:
        if not isinstance(answer, str):
            yield Disagreement(case.source, case.flags, "", "accepted", str(error))
        return
    if isinstance(answer, str):
        yield Disagreement(case.source, case.flags, "", answer, "accepted")
        return
    exact, short = _forms(tree)
    for text, theirs in zip(case.texts, answer, strict=True):
        units = split_units(text)
        found = exact.search(units, timeout=_LIMIT)
        ours = None if found is None else list(found.span())
        trimmed = short.search(units, timeout=_LIMIT)
        if (trimmed is None) != (found is None):
            yield Disagreement(case.source, case.flags, text, "trimmed differs", ours)
        rare = not is_ascii(tree) and not _RARE.isdisjoint(text)
        if ours != theirs and not rare and not _is_fault_of_v8(case):
            yield Disagreement(case.source, case.flags, text, theirs, ours)


def _is_fault_of_v8(case: Case) -> bool:
    return _UNFOLDED_BY_V8.search(case.source) is not None and "[" in case.source


def _forms(tree: Node) -> tuple[regex.Pattern[str], regex.Pattern[str]]:
    """Compile the final form, and the same without a leading run that changes no hit."""
    resolved = resolve(tree)
    shorter = trim(resolved.tree)
    exact = _final(resolved)
    if shorter == resolved.tree:
        return exact, exact
    return exact, _final(Resolved(shorter, resolved.loose, resolved.unstable))


def _final(resolved: Resolved) -> regex.Pattern[str]:
    text = translate(resolved, Measure.of(resolved.tree), Form.FINAL)
    flags = regex.VERSION0 | (regex.ASCII if is_ascii(resolved.tree) else regex.UNICODE)
    return regex.compile(NEVER if text is None else text, flags, cache_pattern=False)


def main(arguments: list[str]) -> int:
    """Compare until `--pairs` are done; print every disagreement."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pairs", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args(arguments)
    wrong = done = 0
    while done < chosen.pairs:
        count = min(_BATCH, -(-(chosen.pairs - done) // TEXTS))
        for disagreement in compare(make_cases(chosen.seed * 1_000_003 + done, count)):
            wrong += 1
            sys.stdout.write(f"{disagreement}\n")
        done += count * TEXTS
        sys.stdout.write(f"{done} pairs, {wrong} disagreements\n")
        sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
