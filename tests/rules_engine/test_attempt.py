"""One answer under watch: hits over its surfaces in order, what is held, what is quoted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rules_engine.armed import Armed
from rules_engine.attempt import Attempt, Located
from rules_engine.events import (
    FinishReason,
    TextDelta,
    ThinkingDelta,
    ToolArguments,
    ToolClosed,
    ToolNamed,
    ToolOpened,
)
from rules_engine.held import Extent
from rules_engine.policy import ReleaseMode
from rules_engine.ruleset import RuleSet
from rules_engine.scope import Surface
from tests.support.rules import FAMILIES, rule_text, ruleset

EVERYWHERE = "text, thinking, tool"


def attempt(
    rules: RuleSet, *, holding: bool = True, text_before: str = "", thinking_before: str = ""
) -> Attempt:
    names = frozenset(live.rule.name for live in rules.live) if holding else frozenset[str]()
    armed = Armed(rules.live, rules.live, names, ReleaseMode.SAFE)
    return Attempt(armed, FAMILIES, None, text_before, thinking_before)


def foo(condition: str = "FORBIDDEN", scope: str = EVERYWHERE) -> RuleSet:
    return ruleset(foo=rule_text(condition=condition, scope=scope))


def told(located: Sequence[Located]) -> list[tuple[str, Surface, int]]:
    return [(each.hit.rule.name, each.hit.surface, each.hit.decided) for each in located]


def test_hits_of_one_delta_stand_in_the_order_of_their_decision() -> None:
    """The order of the rules only counts between hits of one position."""
    rules = ruleset(
        late=rule_text(condition="b c"),
        early=rule_text(condition="b"),
        same=rule_text(condition="b"),
    )
    located = attempt(rules).feed(TextDelta(0, "a b c"))
    assert told(located) == [
        ("early", Surface.TEXT, 3),
        ("same", Surface.TEXT, 3),
        ("late", Surface.TEXT, 5),
    ]


def test_surfaces_and_choices_are_texts_of_their_own() -> None:
    """No match is built out of two surfaces, or of two choices."""
    watched = attempt(foo())
    assert not watched.feed(ThinkingDelta(0, "FORB"))
    assert not watched.feed(TextDelta(0, "IDDEN FORB"))
    assert not watched.feed(TextDelta(1, "IDDEN"))
    assert told(watched.feed(TextDelta(0, "IDDEN"))) == [("foo", Surface.TEXT, 15)]
    assert watched.text() == "IDDEN FORBIDDEN"
    assert watched.thinking() == "FORB"


def test_hit_in_a_call_says_which_tool_and_file() -> None:
    """A call's hit carries its number, tool and path; its position is in the raw arguments."""
    watched = attempt(foo())
    watched.feed(ToolOpened(0, 0))
    watched.feed(ToolOpened(0, 1))
    watched.feed(ToolNamed(0, 1, "edit"))
    (located,) = watched.feed(ToolArguments(0, 1, '{"path":"a.ts","new":"FORBIDDEN"}'))
    assert (located.hit.call, located.hit.tool, located.hit.path) == (1, "edit", "a.ts")
    assert not located.at_end
    assert not watched.feed(ToolClosed(0, 1))
    assert not watched.feed(FinishReason(0, "tool_calls"))


def test_hit_of_a_finished_call_is_one_of_the_end() -> None:
    """Whatever only the whole call shows can refuse it, but never cut it."""
    watched = attempt(foo("end$"))
    watched.feed(ToolOpened(0, 0))
    watched.feed(ToolNamed(0, 0, "write"))
    assert not watched.feed(ToolArguments(0, 0, '{"path":"a","content":"the end"}'))
    (located,) = watched.feed(ToolClosed(0, 0))
    assert located.at_end


def test_end_closes_prose_first_and_calls_that_were_left_open() -> None:
    """At the end every surface is decided, each once."""
    watched = attempt(foo("end$"))
    watched.feed(TextDelta(0, "the end"))
    watched.feed(ThinkingDelta(0, "end"))
    watched.feed(ToolOpened(0, 0))
    watched.feed(ToolNamed(0, 0, "write"))
    watched.feed(ToolArguments(0, 0, '{"path":"a","content":"end"}'))
    located = watched.close()
    assert [each.hit.surface for each in located] == [Surface.TEXT, Surface.THINKING, Surface.TOOL]
    assert all(each.at_end for each in located)
    assert not watched.close()


def test_positions_at_the_end_hold_what_the_end_decided_on_every_surface() -> None:
    """A match on one surface is not let go because another one cuts the attempt."""
    watched = attempt(foo("end$"))
    watched.feed(TextDelta(0, "the end"))
    watched.feed(ThinkingDelta(0, "my end"))
    watched.close()
    assert watched.hold((Surface.THINKING, 6)) == (4, 3)


def test_hold_positions_are_in_characters_of_this_attempt() -> None:
    """What an earlier attempt showed stands in front of the windows and does not count."""
    watched = attempt(foo(r"one\s+FOR"), text_before="one\n\n", thinking_before="one ")
    watched.feed(TextDelta(0, "F"))
    watched.feed(ThinkingDelta(0, "x FOR"))
    assert watched.hold() == (0, 5)
    (located,) = watched.feed(TextDelta(0, "OR!"))
    assert watched.hold((Surface.TEXT, located.hit.decided)) == (0, 5)
    assert watched.text(located.hit.decided) == "FOR"
    assert watched.own_position(Surface.TEXT, located.hit.decided) == 3
    assert watched.own_position(Surface.TEXT, 2) == 0
    assert watched.extent(4, calls=False, locked=False) == Extent(
        4, 4, 5, calls=False, locked=False
    )


def test_dropped_holds_hold_nothing() -> None:
    """Once nothing may interrupt any more, all prose may go."""
    watched = attempt(foo())
    watched.feed(TextDelta(0, "FORB"))
    assert watched.hold() == (0, 0)
    watched.drop_holds()
    assert watched.hold() == (4, 0)


def test_excerpt_ends_where_the_match_was_decided() -> None:
    """What is quoted does not depend on what else the delta brought."""
    located = attempt(foo(r"FORBIDDEN\b")).feed(TextDelta(0, "a FORBIDDEN word and more"))
    assert located[0].hit.excerpt == "a FORBIDDEN "


def test_excerpt_is_bounded_on_both_sides() -> None:
    """Two hundred characters in front of the match; of a long one its begin."""
    (located,) = attempt(foo("b[a]+e", "text")).feed(
        TextDelta(0, "x" * 500 + "b" + "a" * 5000 + "e")
    )
    assert located.hit.excerpt == "x" * 200 + "b" + "a" * 599


def test_leak_is_what_went_out_of_an_interrupting_match() -> None:
    """A hit on text that was let go says so, unless its rule holds nothing anyway."""
    for holding in (True, False):
        watched = attempt(foo(), holding=holding)
        watched.feed(TextDelta(0, "FORB"))
        watched.held.append(watched.extent(0, calls=False, locked=False))
        watched.held.release_all()
        (located,) = watched.feed(TextDelta(0, "IDDEN"))
        assert located.hit.leaked is holding


@pytest.mark.parametrize("surface", [Surface.TEXT, Surface.TOOL])
def test_rule_that_was_set_aside_is_told_once(surface: Surface) -> None:
    """Quarantined rules are taken with the surface on which they were too slow."""
    watched = attempt(foo("(?:a|aa)+[xy]"))
    if surface is Surface.TEXT:
        watched.feed(TextDelta(0, "y" + "a" * 3000))
    else:
        watched.feed(ToolOpened(0, 0))
        watched.feed(ToolNamed(0, 0, "write"))
        watched.feed(ToolArguments(0, 0, '{"path":"a","content":"y' + "a" * 3000))
    ((live, where),) = watched.take_quarantined()
    assert (live.rule.name, where) == ("foo", surface)
    assert not watched.take_quarantined()


def test_sealed_reasoning_marks_the_attempt() -> None:
    """One signed piece is enough."""
    watched = attempt(foo())
    watched.feed(ThinkingDelta(0, "a"))
    assert not watched.sealed
    watched.feed(ThinkingDelta(0, "", sealed=True))
    assert watched.sealed


def test_calls_are_held_where_a_refusing_rule_may_admit_one() -> None:
    """Declared tools count, called ones too, and a call without a name may be any."""
    watched = attempt(foo(scope="tool:deploy"))
    assert watched.calls_held([("deploy",)])
    assert not watched.calls_held([("edit",)])
    watched.feed(ToolOpened(0, 0))
    assert watched.calls_held([("edit",)])
    watched.feed(ToolNamed(0, 0, "write"))
    assert not watched.calls_held([("edit",)])
    watched.feed(ToolOpened(0, 1))
    watched.feed(ToolNamed(0, 1, "deploy"))
    assert watched.calls_held([("edit",)])
    quiet = ruleset(foo=rule_text(condition="x", scope="tool", interruptMode="never"))
    assert not attempt(quiet).calls_held([("edit",)])
