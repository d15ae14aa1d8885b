"""A text with edits in it: which window sees what, and positions that are those of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest

from rules_engine.calls import CallWatch
from rules_engine.families import EditsInProse, ProseFormat
from rules_engine.ruleset import RuleSet
from rules_engine.scope import Surface
from rules_engine.split_text import EditFound, SplitText
from rules_engine.tools import CallReader
from rules_engine.windows import Found, Watch, Window
from tests.support.rules import rule_text, ruleset
from tests.support.tool_calls import FAMILIES

EDITS = EditsInProse((ProseFormat.SEARCH_REPLACE,))
BLOCK = "a.py\n<<<<<<< SEARCH\nold BAD\n=======\nmy BAD\n>>>>>>> REPLACE\n"
TEXT = f"so BAD it\n{BLOCK}BAD"
RULES = ruleset(
    said=rule_text(condition=r"\bBAD\b", scope="text"),
    made=rule_text(condition=r"\bBAD\b", scope="tool:edit(*.py)"),
    other=rule_text(condition=r"\bBAD\b", scope="tool:edit(*.ts)"),
)


def text_of(rules: RuleSet, *, holds: bool = False) -> SplitText:
    def watch(reader: CallReader) -> CallWatch:
        return CallWatch(FAMILIES, admit, None, reader=reader)

    def admit(names: tuple[str, ...], candidates: tuple[str, ...]) -> Iterable[object]:
        return (r for r in rules.live if r.rule.watches(Surface.TOOL, names, candidates))

    said = (Watch(r, holds=holds) for r in rules.live if r.rule.may_watch(Surface.TEXT))
    return SplitText(Window(said), EDITS, FAMILIES, watch)  # type: ignore[arg-type]


def fed(split: SplitText, text: str, cuts: Iterable[int] = ()) -> list[Found | EditFound]:
    found: list[Found | EditFound] = []
    for start, end in pairwise([0, *cuts, len(text)]):
        found += split.feed(text[start:end])
    return found


def told(found: Sequence[Found | EditFound]) -> list[tuple[str, int]]:
    return [
        ((each.found if isinstance(each, EditFound) else each).live.rule.name, each.decided)
        for each in found
    ]


def test_each_rule_sees_its_own_part() -> None:
    """Prose is for rules on text, new source for rules on the tool; old source is for none."""
    split = text_of(RULES)
    said, made = fed(split, TEXT)
    assert told([said, made]) == [
        ("said", TEXT.index("BAD it") + 4),
        ("made", TEXT.index(" REPLACE") + len(" REPLACE")),
    ]
    assert isinstance(said, Found)
    assert TEXT[said.start : said.end] == "BAD"
    assert isinstance(made, EditFound)
    assert (made.tool, made.paths, made.text) == ("edit", ("a.py",), "my BAD")
    assert TEXT[slice(*made.span)].startswith("<<<<<<< SEARCH\n")


@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_cutting_makes_no_difference(step: int) -> None:
    """The same hits at the same places, in the same order."""
    whole, cut = text_of(RULES), text_of(RULES)
    assert told(fed(cut, TEXT, range(step, len(TEXT), step))) == told(fed(whole, TEXT))
    assert told(cut.close()) == told(whole.close())
    assert cut.text == TEXT


def test_end_decides_at_the_text_s_length() -> None:
    """A block that never ended, and a word at the very end, count from behind everything."""
    text = "BA" + BLOCK[: BLOCK.index("BAD\n>>>") + 3]
    split = text_of(RULES)
    assert fed(split, text) == []
    (made,) = split.close()
    assert (made.decided, made.at_end) == (len(text), True)
    split = text_of(RULES)
    assert fed(split, f"{BLOCK.replace('BAD', '')}BAD") == []
    (said,) = split.close()
    assert isinstance(said, Found)
    assert split.text[said.start : said.end] == "BAD"
    assert said.decided == len(split.text)


def test_no_match_is_built_across_an_edit() -> None:
    """What stands before it and behind it are not one text."""
    rules = ruleset(said=rule_text(condition=r"so\s+BAD", scope="text"))
    assert fed(text_of(rules), f"so\n{BLOCK}\nBAD so BAD.") != []
    assert fed(text_of(rules), f"so\n{BLOCK}\nBAD.") == []


def test_hold_positions_are_those_of_the_text() -> None:
    """What a rule on text may yet match on is held, wherever it stands."""
    rules = ruleset(said=rule_text(condition="BADLY", scope="text"))
    split = text_of(rules, holds=True)
    fed(split, f"{BLOCK}so BAD")
    assert split.hold() == len(BLOCK) + 3
    assert split.holds_back()
    assert split.hold_at(len(BLOCK) + 2) == len(BLOCK) + 2
    split.feed(".")
    assert split.hold() == len(split.text)
    assert not split.holds_back()
    split.feed("BAD")
    split.drop_holds()
    assert split.hold() == len(split.text)


def test_structures_are_searched_in_edits() -> None:
    """Each edit is one text in the language of its file."""
    rules = ruleset(
        made=rule_text(astCondition="$A as any", scope="tool:edit(*.ts)"),
    )
    split = text_of(rules)
    fed(split, "a.ts\n<<<<<<< SEARCH\n=======\nlet x = y as any\n>>>>>>> REPLACE\nend")
    split.close()
    (job,) = split.jobs(0)
    ((_, span),) = job.search.run()
    found = split.structure(job, job.rules[0], span)
    assert (job.call, found.paths, found.decided) == ((0, -1), ("a.ts",), len(split.text))
    assert split.text[slice(*found.span)].startswith("<<<<<<< SEARCH")
