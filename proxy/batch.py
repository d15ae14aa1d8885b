"""A batch of hits: which of them the notes speak of, and what they deliver; pure."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.pending import Pending
from proxy.splice import Delivery, Placement
from rules_engine import wording
from rules_engine.decisions import Action, Hit, Refuse
from rules_engine.rule import Rule


def deliveries(hits: Sequence[Hit]) -> tuple[Delivery, ...]:
    """What a note of these hits delivers: each rule once, in the order of the hits."""
    rules: dict[str, Rule] = {hit.rule.name: hit.rule for hit in reversed(hits)}
    names = dict.fromkeys(hit.rule.name for hit in hits)
    return tuple(Delivery(name, rules[name].body_hash) for name in names)


def reminder_of(hit: Hit) -> Action:
    """Name the kind of note that a hit is told in, where it does not stop the answer.

    An edit inside the text has no result that a note could stand in front of.
    """
    return Action.PROSE_REMINDER if hit.call is None else Action.TOOL_REMINDER


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


def reminded(pending: Pending, hits: Sequence[Hit], placement: Placement) -> Pending:
    """What a turn leaves behind, with the reminders of an accepted message's hits."""
    for call, told in by_call(hits).items():
        name = next(hit.tool or "" for hit in told)
        text = wording.tool_reminder(told)
        pending = pending.reminded_of_call(call, name, text, deliveries(told), placement)
    prose = first_of_each([hit for hit in hits if hit.call is None], hits)
    if prose:
        pending = pending.reminded(wording.prose_reminder(prose), deliveries(prose))
    return pending


def outcomes(hits: Sequence[Hit]) -> list[tuple[Hit, Action, str]]:
    """What the audit says of an accepted message's hits: the first of a rule on a surface."""
    told = first_of_each(hits, hits)
    rows = [
        (hit, Action.EXHAUSTED if hit.exhausted else reminder_of(hit), "told on the next request")
        for hit in told
    ]
    surfaces = {(hit.rule.name, hit.surface) for hit in told}
    for hit in hits:
        if (hit.rule.name, hit.surface) not in surfaces:
            surfaces.add((hit.rule.name, hit.surface))
            rows.append((hit, Action.OBSERVED, "told with its rule's first hit"))
    return rows


def untold(hits: Sequence[Hit]) -> list[tuple[Hit, Action, str]]:
    """What the audit says of an answer's hits where no later request can be told of them."""
    rows = []
    for hit in hits:
        if hit.exhausted:
            rows.append((hit, Action.EXHAUSTED, "released, and nothing can be told later"))
        else:
            rows.append((hit, Action.OBSERVED, "nothing can be told later"))
    return rows


def apart(refuse: Refuse) -> tuple[list[Hit], list[Hit]]:
    """The hits for which calls are refused, and those that are merely told along."""
    refused = [hit for hit in refuse.hits if hit.call in refuse.refused]
    return refused, [hit for hit in refuse.hits if hit.call not in refuse.refused]


def refusal_results(refuse: Refuse, calls: int) -> list[str]:
    """The tool message of each call of a refused message; the first refused one tells the rest."""
    refused, others = apart(refuse)
    results = [wording.not_run()] * calls
    for number in refuse.refused:
        told = [hit for hit in refused if hit.call == number]
        also = others if number == refuse.refused[0] else []
        results[number] = wording.refusal(told + also)
    return results
