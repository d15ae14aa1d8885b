"""What must hold for every tool of every agent: a new file in the folder is tested by being there.

The calls are made from the families, by `tests/support/family_calls.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from rules_engine.decisions import Decision, Interrupt, Refuse
from rules_engine.events import Finished, ToolArguments, ToolClosed, ToolNamed, ToolOpened
from rules_engine.families import PatchFormat
from rules_engine.policy import TurnOptions
from rules_engine.ruleset import RuleSet
from rules_engine.tools import Section, make_reader
from rules_engine.turn import Facts, Turn
from tests.support.family_calls import WRITERS, Change, Source, sources
from tests.support.playbook import Wire, play
from tests.support.rules import rule_text, ruleset
from tests.support.tool_calls import Reading, read_call

SOURCES = list(sources())
each_source = pytest.mark.parametrize("source", SOURCES, ids=str)
JSON = [source for source in SOURCES if source.argument]
each_json_source = pytest.mark.parametrize("source", JSON, ids=str)
NAMED = [source for source in SOURCES if source.names_files]

CHANGES = (Change("a.py", "NEW", "OLD", "SAME"), Change("a.py", "MORE", "GONE", "STILL"))
REMOVED, AROUND = ("OLD", "GONE"), ("SAME", "STILL")


def read(source: Source, raw: str, cuts: Iterable[int] = ()) -> Reading:
    return read_call(source.tool, raw, cuts, freeform=source.freeform, families=source.families)


def told(source: Source, sections: Iterable[Section]) -> set[tuple[tuple[str, ...], str]]:
    """Files and texts of the sections that this source made, leaving out a shell's command."""
    return {
        (section.paths, section.text)
        for section in sections
        if bool(section.paths) == source.names_files
    }


def test_every_format_is_written() -> None:
    """A new format needs a way in which a model writes it, or it is not tested here."""
    assert set(WRITERS) == set(PatchFormat)


@each_source
def test_source_gives_what_is_new_and_never_what_is_old(source: Source) -> None:
    """Each edit is a section of its file; removed lines, context, other arguments are none."""
    for raw in source.calls(*CHANGES):
        reading = read(source, raw)
        assert read(source, raw, range(1, len(raw))) == reading
        found = told(source, reading.sections)
        assert found
        for paths, text in found:
            assert text in {"NEW", "MORE"}
            assert ("a.py" in paths) == source.names_files
        new = [section for section in reading.sections if section.text in {"NEW", "MORE"}]
        assert all(set(source.canonical) <= set(section.names) for section in new)


@each_source
def test_truncated_call_shows_nothing_else(source: Source) -> None:
    """However short it is cut, what streams begins what the whole call gives, and no old text."""
    never = REMOVED if source.format is None else (*REMOVED, *AROUND)
    for raw in source.calls(*CHANGES):
        whole = {section.key: section.text for section in read(source, raw).sections}
        reader = make_reader(source.families, freeform=source.freeform)
        reader.name(source.tool)
        for character in raw:
            reader.feed(character)
            assert all(whole[each.key].startswith(each.text) for each in reader.sections)
        # To be cut off costs a reading each, so not everywhere.
        for length in range(0, len(raw), 5):
            sections = read(source, raw[:length]).sections
            for _, text in told(source, sections) if source.names_files else ():
                assert not [word for word in never if word in text]


@each_json_source
def test_order_of_arguments_makes_no_difference(source: Source) -> None:
    """At any depth: the path may come last."""
    for raw in source.calls(*CHANGES):
        turned = json.dumps(reversed_keys(json.loads(raw)))
        assert told(source, read(source, turned).sections) == told(
            source, read(source, raw).sections
        )


def reversed_keys(value: Any) -> Any:
    match value:
        case dict():
            return {key: reversed_keys(inner) for key, inner in reversed(value.items())}
        case list():
            return [reversed_keys(inner) for inner in value]
        case _:
            return value


@each_json_source
def test_arguments_encoded_twice_give_the_same(source: Source) -> None:
    """A JSON string that holds the arguments reads like the arguments."""
    for raw in source.calls(*CHANGES):
        twice = read(source, json.dumps(raw)).sections
        assert told(source, twice) == told(source, read(source, raw).sections)


@each_json_source
def test_arguments_given_twice_are_both_read(source: Source) -> None:
    """Parsers differ in which of two values they take, so both are looked at."""
    for raw in source.calls(CHANGES[0]):
        twice = f"{raw[:-1]}, {raw[1:]}"
        texts = [section.text for section in read(source, twice).sections]
        assert texts.count("NEW") == 2
        turned = f"{json.dumps(reversed_keys(json.loads(raw)))[:-1]}, {raw[1:]}"
        assert [s.text for s in read(source, turned).sections].count("NEW") == 2


# ---- hits of a rule


def hits(source: Source, rules: RuleSet, *raws: str, piece: int = 0) -> set[tuple[str, str | None]]:
    """Tool and file of every hit that stops a message with these calls, cut into pieces."""
    facts = Facts(tools=(source.tool,), families=source.families)
    turn = Turn(rules, facts, TurnOptions(), {}, now=0.0)
    wires: list[Wire] = []
    for number, raw in enumerate(raws):
        wires.append(
            (
                ToolOpened(0, number, f"id{number}", freeform=source.freeform),
                ToolNamed(0, number, source.tool),
            )
        )
        step = piece or len(raw)
        starts = range(0, len(raw), step)
        wires += [(ToolArguments(0, number, raw[at : at + step]),) for at in starts]
        wires.append((ToolClosed(0, number),))
    return set(_stopping(play(turn, [*wires, (Finished(),)]).decisions))


def _stopping(decisions: Iterable[Decision]) -> Iterable[tuple[str, str | None]]:
    for decision in decisions:
        if isinstance(decision, Interrupt | Refuse):
            for hit in decision.hits:
                yield hit.tool or "", hit.path


def bad(source: Source, glob: str = "*.py") -> RuleSet:
    return ruleset(foo=rule_text(condition="BAD", scope=source.scope(glob)))


@each_source
def test_construct_that_is_added_is_a_hit(source: Source) -> None:
    """However the call is cut; the hit names tool and file."""
    raws = source.calls(Change("a.py", "so BAD it is"))
    path = "a.py" if source.names_files else None
    for piece in (0, 1, 7):
        assert hits(source, bad(source), *raws, piece=piece) == {(source.tool, path)}


@pytest.mark.parametrize("source", [s for s in SOURCES if s.names_old_text], ids=str)
def test_construct_that_is_removed_is_none(source: Source) -> None:
    """An edit that mends is let through."""
    assert not hits(source, bad(source), *source.calls(Change("a.py", "good", "so BAD it was")))


@each_source
def test_construct_that_stands_around_is_none(source: Source) -> None:
    """Context lines, and arguments that are no source."""
    if source.format is None or source.names_files:
        raws = source.calls(Change("a.py", "good", context="BAD"))
        assert not hits(source, bad(source), *raws)


@pytest.mark.parametrize("source", NAMED, ids=str)
def test_construct_in_a_sibling_file_is_none(source: Source) -> None:
    """A rule for Python files sees no Markdown, in the same call or another."""
    raws = source.calls(Change("a.py", "good"), Change("b.md", "BAD"), Change("c.py", "good"))
    assert not hits(source, bad(source), *raws)
    assert hits(source, bad(source, "*.md"), *raws) == {(source.tool, "b.md")}


@each_source
def test_construct_in_another_edit_is_a_hit(source: Source) -> None:
    """Not only the first edit is looked at."""
    raws = source.calls(Change("a.py", "good"), Change("a.py", "BAD"), Change("a.py", "fine"))
    assert hits(source, bad(source), *raws)


@each_source
@pytest.mark.parametrize("other", ["a.py", "b.py"], ids=["another-edit", "another-file"])
def test_match_never_spans_edits_files_or_calls(source: Source, other: str) -> None:
    """Two halves in two places are no construct."""
    rules = ruleset(foo=rule_text(condition=r"BAD[\s\S]*WORSE", scope=source.scope()))
    apart = source.calls(Change("a.py", "BAD"), Change(other, "WORSE"))
    assert not hits(source, rules, *apart)
    assert hits(source, rules, *source.calls(Change("a.py", "BAD and WORSE")))
