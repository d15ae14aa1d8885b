from __future__ import annotations

from dataclasses import replace

from proxy.batch import by_call, deliveries, first_of_each, reminder_of, untold
from proxy.splice import Delivery
from rules_engine.decisions import Action, Hit
from rules_engine.scope import Surface
from tests.support.rules import rule_text, ruleset

RULES = {
    live.rule.name: live.rule
    for live in ruleset(a=rule_text(condition="x"), b=rule_text(condition="y")).live
}


def hit(rule: str, surface: Surface = Surface.TEXT, call: int | None = None) -> Hit:
    tool = "edit" if call is not None else None
    return Hit(RULES[rule], surface, 0, 0, 1, 1, "x", tool=tool, call=call)


def test_batch_delivers_each_rule_once() -> None:
    """In the order of the hits, with the hash of the text that was told."""
    found = deliveries([hit("b"), hit("a"), hit("b")])
    assert found == tuple(Delivery(name, RULES[name].body_hash) for name in ("b", "a"))


def test_first_hit_of_a_rule_speaks_for_it() -> None:
    """Later hits of the rule are silent, also where the first is on another surface."""
    text, tool = hit("a"), hit("a", Surface.TOOL, 0)
    assert first_of_each([text, tool], [text, tool]) == [text]
    assert first_of_each([text], [tool, text]) == []


def test_rule_attaches_to_the_first_call_that_it_matched() -> None:
    """Two rules of one call stand together; prose has no call."""
    hits = [hit("a", Surface.TOOL, 1), hit("b", Surface.TOOL, 1), hit("a", Surface.TOOL, 2)]
    assert by_call(hits) == {1: hits[:2]}
    assert by_call([hit("a")]) == {}


def test_reminder_is_named_by_surface() -> None:
    """A call's hit is told at its result, any other behind the message."""
    assert reminder_of(hit("a", Surface.TOOL, 0)) is Action.TOOL_REMINDER
    assert reminder_of(hit("a", Surface.THINKING)) is Action.PROSE_REMINDER
    assert reminder_of(hit("a", Surface.TOOL)) is Action.PROSE_REMINDER  # an edit in the text


def test_hit_that_nobody_can_be_told_of_is_observed() -> None:
    """Each of them; one that would have stopped the answer is still named so."""
    spent = replace(hit("a"), exhausted=True)
    rows = untold([hit("b"), spent, hit("b")])
    assert [(row[0].rule.name, row[1]) for row in rows] == [
        ("b", Action.OBSERVED),
        ("a", Action.EXHAUSTED),
        ("b", Action.OBSERVED),
    ]
