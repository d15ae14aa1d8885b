"""Brute force: what every continuation of a text over a small alphabet says about a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from rules_engine.dialect import Pattern
from rules_engine.triggers.pattern import PatternTrigger

ALPHABET = "ab\n"

Ends = frozenset[tuple[int, int]]


def texts_up_to(longest: int, alphabet: str = ALPHABET) -> Iterator[str]:
    """Every text of up to that length."""
    for length in range(longest + 1):
        yield from map("".join, product(alphabet, repeat=length))


def faults(pattern: Pattern, longest: int, alphabet: str = ALPHABET) -> Iterator[str]:
    """Tell each way in which the three forms contradict each other on texts up to a length."""
    trigger = PatternTrigger(pattern)
    certain = {text: _is_certain(pattern, text) for text in texts_up_to(longest, alphabet)}
    holds = {text: trigger.hold(text, 0) for text in certain}
    starts = {text: _final_starts(pattern, text) for text in certain}
    for text in certain:
        yield from _growth_faults(text, certain, holds)
        yield from _final_faults(text, certain, holds, starts)


def _is_certain(pattern: Pattern, text: str) -> bool:
    return pattern.streaming is not None and pattern.streaming.search(text) is not None


def _final_starts(pattern: Pattern, text: str) -> list[int]:
    return [at for at in range(len(text) + 1) if pattern.final.match(text, at) is not None]


def _growth_faults(text: str, certain: dict[str, bool], holds: dict[str, int]) -> Iterator[str]:
    """Compare a text with the one that is a character shorter."""
    if not text:
        return
    before = text[:-1]
    if certain[before] and not certain[text]:
        yield f"certain on {before!r}, not on {text!r}"
    if holds[text] < holds[before]:
        yield f"hold position moves back from {before!r} to {text!r}"


def _final_faults(
    text: str, certain: dict[str, bool], holds: dict[str, int], starts: dict[str, list[int]]
) -> Iterator[str]:
    """Compare a finished text with each of its prefixes."""
    for length in range(len(text) + 1):
        known = text[:length]
        if certain[known] and not starts[text]:
            yield f"certain on {known!r}, but {text!r} has no match"
        released = [at for at in starts[text] if at < holds[known]]
        if released:
            yield f"{known!r} held from {holds[known]}, but {text!r} matches at {released[0]}"


def late(pattern: Pattern, longest: int, alphabet: str = ALPHABET) -> tuple[int, int]:
    """Count the texts on which a match is inevitable, and those on which it is not yet certain.

    Inevitable as far as continuations to `longest` show, on texts two characters shorter.
    """
    inevitable = unseen = 0
    for text in texts_up_to(longest - 2, alphabet):
        if all(pattern.final.search(text + tail) is not None for tail in texts_up_to(2, alphabet)):
            inevitable += 1
            unseen += not _is_certain(pattern, text)
    return inevitable, unseen
