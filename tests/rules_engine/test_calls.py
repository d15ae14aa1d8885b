"""A call that is read while it streams: which rules see it, and from when on their hits count."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import pytest

from rules_engine.calls import CallFound, CallWatch
from rules_engine.ruleset import LiveRule, RuleSet
from rules_engine.scope import Surface
from tests.support.rules import FAMILIES, rule_text, ruleset

FOO = rule_text(condition="FORBIDDEN", scope="tool")


def watch(rules: RuleSet, *, freeform: bool = False, workspace: str | None = None) -> CallWatch:
    def admit(names: tuple[str, ...], candidates: tuple[str, ...]) -> Iterable[LiveRule]:
        return (r for r in rules.live if r.rule.watches(Surface.TOOL, names, candidates))

    return CallWatch(FAMILIES, admit, workspace, freeform=freeform)


def told(found: Sequence[CallFound]) -> list[tuple[str, int, tuple[str, ...]]]:
    return [(each.found.live.rule.name, each.arrival, each.paths) for each in found]


def test_hit_arrives_with_its_last_raw_character() -> None:
    """Positions are offsets of the raw arguments, escapes counted as they stand there."""
    call = watch(ruleset(foo=FOO))
    call.name("edit")
    raw = json.dumps({"path": "a.ts", "new": "é\nFORBIDDEN!"})
    assert told(call.feed(raw)) == [("foo", raw.index("!"), ("a.ts",))]


def test_hit_in_front_of_the_path_arrives_with_the_path() -> None:
    """Text that came before its path is searched once the path is there, and counts from then."""
    call = watch(ruleset(foo=rule_text(condition="FORBIDDEN", scope="tool:edit(*.ts)")))
    call.name("edit")
    assert not call.feed('{"new":"FORBIDDEN"')
    assert not call.feed(',"path":"a.t')
    (hit,) = call.feed('s"}')
    assert hit.arrival == len('{"new":"FORBIDDEN","path":"a.ts"')
    assert hit.text == "FORBIDDEN"


def test_late_name_settles_what_came_before_it() -> None:
    """Arguments in front of the tool's name wait for it, and count from where it came."""
    call = watch(ruleset(foo=rule_text(condition="FORBIDDEN", scope="tool:edit")))
    raw = '{"path":"a.ts","new":"FORBIDDEN"'
    assert not call.feed(raw)
    assert call.possible == ()
    assert told(call.name("edit")) == [("foo", len(raw), ("a.ts",))]
    assert call.own_name == "edit"
    assert "edit" in call.possible


def test_rule_of_another_tool_or_file_sees_nothing() -> None:
    """Scope and globs are asked before the trigger."""
    rules = ruleset(
        tool=rule_text(condition="FORBIDDEN", scope="tool:write"),
        file=rule_text(condition="FORBIDDEN", scope="tool", globs=["*.md"]),
    )
    call = watch(rules)
    call.name("edit")
    assert not [*call.feed('{"path":"a.ts","new":"FORBIDDEN"}'), *call.close()]


def test_path_below_the_workspace_is_known_by_both_names() -> None:
    """A glob may name a file from the workspace although the call names it from the root."""
    rules = ruleset(foo=rule_text(condition="FORBIDDEN", scope="tool", globs=["src/*.ts"]))
    call = watch(rules, workspace="/home/me/project")
    call.name("edit")
    assert call.feed('{"path":"/home/me/project/src/a.ts","new":"FORBIDDEN"}')


def test_each_edit_is_a_section_of_its_own() -> None:
    """Every place where a call adds source is a text of its own; hits stand in their order."""
    call = watch(ruleset(foo=FOO))
    call.name("edits")
    raw = json.dumps({"edits": [{"new": "FORB"}, {"new": "FORBIDDEN"}, {"new": "a FORBIDDEN"}]})
    assert not call.feed(raw[:-1])
    found = call.feed(',"path":"a.ts"}')
    assert [(each.key, each.found.start) for each in found] == [
        ("edits/1/new", 0),
        ("edits/2/new", 2),
    ]
    assert len({each.arrival for each in found}) == 1


def test_only_the_end_decides_some_hits() -> None:
    """A finished call is checked whole, once."""
    call = watch(ruleset(foo=rule_text(condition="end$", scope="tool")))
    call.name("write")
    assert not call.feed('{"path":"a","content":"the end"}')
    assert len(call.close()) == 1
    assert call.closed
    assert call.close() == ()


def test_call_that_never_names_its_file_is_checked_at_its_end() -> None:
    """Where no path comes the source is still searched, without one."""
    call = watch(ruleset(foo=FOO))
    call.name("edit")
    assert not call.feed('{"new":"FORBIDDEN"}')
    assert told(call.close()) == [("foo", len('{"new":"FORBIDDEN"}'), ())]


def test_last_of_two_paths_is_the_file_that_is_written() -> None:
    """A rule for the file that counts in the end is not blind because another was named first."""
    rules = ruleset(foo=rule_text(condition="FORBIDDEN", scope="tool:edit(*.ts)"))
    raw = '{"path":"a.md","new":"FORBIDDEN","path":"b.ts"}'
    call = watch(rules)
    call.name("edit")
    assert not call.feed(raw)
    assert told(call.close()) == [("foo", len(raw), ("b.ts",))]


def test_unknown_tool_is_read_by_its_strings() -> None:
    """Without a family each string value of the finished call is matched alone."""
    call = watch(ruleset(foo=FOO))
    call.name("deploy")
    assert not call.feed('{"target":"x FORBIDDEN","other":["FORB","IDDEN"]}')
    assert len(call.close()) == 1


def test_freeform_input_is_read_as_text() -> None:
    """The input of a custom tool is no JSON."""
    call = watch(ruleset(foo=FOO), freeform=True)
    call.name("note")
    call.feed("not { json FORBIDDEN")
    assert len(call.close()) == 1


@pytest.mark.parametrize(
    ("raw", "whole"), [('{"a":1}', True), ('{"a":', False), ("", False), ("[]", True)]
)
def test_call_is_complete_when_its_arguments_are(raw: str, whole: bool) -> None:  # noqa: FBT001
    """A call could be run only if its arguments are one JSON document."""
    call = watch(ruleset(foo=FOO))
    for letter in raw:
        call.feed(letter)
    assert call.complete() is whole
    assert call.size == len(raw)


def test_rule_over_its_time_in_a_call_is_told() -> None:
    """What a section's window set aside is known to the call."""
    slow = "(?:a|aa)+[xy]"
    call = watch(ruleset(foo=rule_text(condition=slow, scope="tool")))
    call.name("write")
    call.feed('{"path":"a","content":"y' + "a" * 3000 + '"}')
    call.close()
    assert [each.rule.name for each in call.quarantined] == ["foo"]
