from __future__ import annotations

import pytest

from rules_engine.rulebook import layers
from tests.support.rules import rule_text, ruleset

ALWAYS = rule_text("Write short sentences.", alwaysApply=True)
BOOK = rule_text("Long text.", description="How to migrate", globs="db/**")


def test_always_layer_comes_first_and_a_blank_line_between() -> None:
    """Bodies whole, then the rulebook, as two blocks."""
    text = layers(ruleset(short=ALWAYS, migrate=BOOK), "", tools=True)
    assert text.startswith(
        '<generic-rules>\n\n<rule name="short">\nWrite short sentences.\n</rule>\n\n'
        "</generic-rules>"
    )
    assert "\n\n<domain-rules>\n- migrate (db/**): How to migrate [.omp/rules/migrate.md]\n" in text


@pytest.mark.case(70)
def test_equal_bodies_stand_once() -> None:
    """Two always-apply rules of the same text: the body appears once, under the first name."""
    text = layers(ruleset(one=ALWAYS, two=ALWAYS), "", tools=True)
    assert text.count("Write short sentences.") == 1
    assert 'name="one"' in text


def test_text_that_the_client_says_itself_is_not_repeated() -> None:
    """White space aside, a rule that stands in the client's prompt is left out."""
    prompt = "You are helpful.\n\nWrite  short\nsentences. Be kind."
    assert layers(ruleset(short=ALWAYS), prompt, tools=True) == ""


@pytest.mark.case(71)
def test_names_are_escaped() -> None:
    """A rule's name cannot break out of its attribute."""
    assert '<rule name="a&quot;&lt;b">' in layers(ruleset(**{'a"<b': ALWAYS}), "", tools=True)


@pytest.mark.case(72)
def test_no_rulebook_rules_give_no_block() -> None:
    """An empty layer renders nothing."""
    assert "domain-rules" not in layers(ruleset(short=ALWAYS), "", tools=True)
    assert layers(ruleset(), "", tools=True) == ""


def test_rulebook_is_left_out_without_tools() -> None:
    """A model that can read no file gets no list of files."""
    assert layers(ruleset(migrate=BOOK), "", tools=False) == ""


def test_trigger_rules_stand_in_no_layer() -> None:
    """A rule with a trigger costs no context until it hits."""
    rule = rule_text("Text.", condition="x", alwaysApply=True, description="d")
    assert layers(ruleset(foo=rule), "", tools=True) == ""
