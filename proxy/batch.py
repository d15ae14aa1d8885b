"""A batch of hits: which of them the notes speak of, and what they deliver; pure."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.splice import Delivery
from rules_engine.decisions import Action, Hit
from rules_engine.rule import Rule
from rules_engine.scope import Surface


def deliveries(hits: Sequence[Hit]) -> tuple[Delivery, ...]:
    """What a note of these hits delivers: each rule once, in the order of the hits."""
    rules: dict[str, Rule] = {hit.rule.name: hit.rule for hit in reversed(hits)}
    names = dict.fromkeys(hit.rule.name for hit in hits)
    return tuple(Delivery(name, rules[name].body_hash) for name in names)


def reminder_of(hit: Hit) -> Action:
    """Name the kind of note that a hit is told in, where it does not stop the answer."""
    return Action.TOOL_REMINDER if hit.surface is Surface.TOOL else Action.PROSE_REMINDER


def first_of_each(hits: Sequence[Hit], among: Sequence[Hit]) -> list[Hit]:
    """Those of `hits` that are the first of their rule `among` all."""
    first: dict[str, Hit] = {}
    for hit in among:
        first.setdefault(hit.rule.name, hit)
    return [hit for hit in hits if first[hit.rule.name] is hit]


def by_call(hits: Sequence[Hit]) -> dict[int, list[Hit]]:
    """Tool hits by call; a rule attaches to the first call that it matched."""
    calls: dict[int, list[Hit]] = {}
    for hit in first_of_each([h for h in hits if h.call is not None], hits):
        calls.setdefault(hit.call or 0, []).append(hit)
    return calls
