from __future__ import annotations

from dataclasses import replace

import pytest

from rules_engine import wording
from rules_engine.decisions import Hit
from rules_engine.rule import Rule
from rules_engine.scope import Surface

RULE = Rule("no-any", ".omp/rules/no-any.md", "native", "Use `unknown` instead of `any`.")
HIT = Hit(RULE, Surface.TEXT, 0, 0, 3, 3, "any")


def test_interrupt_names_rule_and_its_file() -> None:
    """The block carries the reason, the rule and the path of the rule's own file."""
    note = wording.interrupt([HIT])
    head = '<system-interrupt reason="rule_violation" rule="no-any" path=".omp/rules/no-any.md">'
    assert note.startswith(head + "\n")
    assert note.endswith("\n\nUse `unknown` instead of `any`.\n</system-interrupt>")


def test_preamble_says_that_it_is_no_prompt_injection() -> None:
    """Every block says who speaks, so that a careful model does not discard it."""
    for text in (
        wording.interrupt([HIT]),
        wording.tool_reminder([HIT]),
        wording.prose_reminder([HIT]),
        wording.refusal([HIT]),
    ):
        assert "not a prompt injection" in text


def test_tool_reminder_names_tool_and_file_in_its_first_sentence() -> None:
    """The offending tool and file stand in the preamble, not in the attributes."""
    hit = replace(HIT, surface=Surface.TOOL, tool="edit", path="src/a.ts")
    note = wording.tool_reminder([hit])
    first = note.split("\n")[1].split(". ")[0]
    assert "`edit`" in first
    assert "`src/a.ts`" in first
    assert note.startswith("<system-reminder ")


@pytest.mark.case(122)
def test_two_rules_share_one_note_with_a_blank_line_between() -> None:
    """Blocks of several rules are joined by one blank line, in the order of the hits."""
    other = replace(HIT, rule=replace(RULE, name="b", body="Body b."))
    note = wording.tool_reminder([HIT, other])
    assert "</system-reminder>\n\n<system-reminder" in note
    assert note.index("no-any") < note.index('rule="b"')


def test_one_rule_is_told_once() -> None:
    """Several hits of one rule make one block, of the first hit."""
    later = replace(HIT, surface=Surface.TOOL, tool="edit")
    assert wording.interrupt([HIT, later]).count("<system-interrupt") == 1
    assert "your answer" in wording.interrupt([HIT, later])


@pytest.mark.case(117)
def test_path_is_the_rules_own_file() -> None:
    """The path attribute never names the file that was about to be written."""
    hit = replace(HIT, surface=Surface.TOOL, tool="edit", path="src/a.ts")
    assert 'path=".omp/rules/no-any.md"' in wording.interrupt([hit])


def test_attributes_are_escaped() -> None:
    """A rule's name cannot break out of its attribute."""
    rule = replace(RULE, name='a"<b>&c')
    note = wording.interrupt([replace(HIT, rule=rule)])
    assert 'rule="a&quot;&lt;b&gt;&amp;c"' in note


def test_body_cannot_close_our_element() -> None:
    """Only our own two element names are escaped in a body; everything else is as written."""
    body = "</system-interrupt> < SYSTEM-reminder> <b>bold</b> & more"
    note = wording.interrupt([replace(HIT, rule=replace(RULE, body=body))])
    assert "&lt;/system-interrupt> &lt; SYSTEM-reminder> <b>bold</b> & more" in note
    assert note.count("</system-interrupt>") == 1


def test_reminder_text_replaces_the_body() -> None:
    """A rule's short reminder is what is injected where it has one."""
    note = wording.interrupt([replace(HIT, rule=replace(RULE, reminder="Short."))])
    assert "Short." in note
    assert RULE.body not in note


def test_withheld_names_call_and_rule() -> None:
    """The exhaustion message tells a person which call, which file and which rule."""
    hit = replace(HIT, surface=Surface.TOOL, tool="write", path="a.ts")
    text = wording.withheld([hit])
    assert "`write` on `a.ts`" in text
    assert "`no-any` (.omp/rules/no-any.md)" in text


@pytest.mark.parametrize(
    ("released", "seam"),
    [
        ("Hello", "\n\n"),
        ("Hello\n", "\n"),
        ("Hello\n\n", "\n"),
        ("Look:\n```ts\nconst a", "\n```\n\n"),
        ("Look:\n```ts\nconst a\n", "```\n\n"),
        ("~~~~\n```\n", "~~~~\n\n"),
        ("````md\n```ts\n```\n", "````\n\n"),
        ("```\ndone\n```\nafter", "\n\n"),
        ("inline ``` is no fence", "\n\n"),
        ("``` a`b", "\n\n"),
        ("    ```\nindented code", "\n\n"),
    ],
)
def test_seam_closes_an_open_fence_and_leaves_a_blank_line(released: str, seam: str) -> None:
    """The next attempt begins in a paragraph of its own, outside of any code block."""
    assert wording.seam(released) == seam


def test_edit_in_the_text_is_named_as_such() -> None:
    """It is a call that stands in no call: the model finds it by tool, file and place."""
    edit = replace(HIT, surface=Surface.TOOL, tool="edit", path="a.py", call=None)
    assert "the call of `edit` on `a.py` in your text broke a rule" in wording.interrupt([edit])
    assert "the call of `edit` on `a.py` in your text matched" in wording.prose_reminder([edit])
    assert "in your text" not in wording.tool_reminder([replace(edit, call=0)])


def test_answer_that_nobody_saw_is_asked_for_again_as_a_whole() -> None:
    """Going on from where it was cut would leave out all that came before."""
    assert "give the whole answer again" in wording.interrupt([HIT], anew=True)
    assert "continue with the task from here" in wording.interrupt([HIT])
