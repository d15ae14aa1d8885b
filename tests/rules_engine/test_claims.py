from __future__ import annotations

from rules_engine.arguments import ArgumentDecoder
from rules_engine.claims import (
    Claims,
    Place,
    Seen,
    certain_at,
    final_paths,
    paths_by_key,
    place,
    refuted_at,
)
from rules_engine.families import PatchArgument, PatchFormat, ToolFamily


def seen(text: str, *, closed: bool = False) -> Seen:
    decoder = ArgumentDecoder()
    found = Seen()
    for change in decoder.feed(text):
        found.note(change)
    found.end = len(text) if closed else None
    return found


SELECTED = ToolFamily(("t",), ("edit",), where=(("do", ("a", "b")),))
EXCLUDED = ToolFamily(("t",), ("edit",), unless=(("do", ("a",)),))
ALONE = ToolFamily(("t",), ("edit",), without=("old",))


def test_selector_waits_for_its_argument() -> None:
    """Until the value is there the family is neither refuted nor certain."""
    nothing = seen("{")
    for family in (SELECTED, EXCLUDED, ALONE):
        assert refuted_at(family, ("x",), nothing) is None
        assert certain_at(family, ("x",), nothing) is None


def test_selector_decides_with_the_last_character_of_its_value() -> None:
    """From there on it is certain whether the family applies."""
    chosen, other = seen('{"do": "b"'), seen('{"do": "c"')
    assert certain_at(SELECTED, ("x",), chosen) == 10
    assert refuted_at(SELECTED, ("x",), other) == 10
    assert refuted_at(SELECTED, ("x",), chosen) is None
    assert certain_at(EXCLUDED, ("x",), other) == 10
    assert refuted_at(EXCLUDED, ("x",), seen('{"do": "a"')) == 10


def test_selector_that_never_came_decides_at_the_end() -> None:
    """A wanted value that is not there refutes; an unwanted one that is not there does not."""
    nothing = seen("{}", closed=True)
    assert refuted_at(SELECTED, ("x",), nothing) == 2
    assert certain_at(EXCLUDED, ("x",), nothing) == 2
    assert certain_at(ALONE, ("x",), nothing) == 2


def test_argument_that_must_be_absent_may_be_null() -> None:
    """Null counts as absent, every other value as there."""
    assert refuted_at(ALONE, ("x",), seen('{"old": null,')) is None
    assert refuted_at(ALONE, ("x",), seen('{"old": 0,')) == 9
    assert refuted_at(ALONE, ("x",), seen('{"old": "')) == 9


def test_claims_are_found_by_shape() -> None:
    """An argument is claimed as new source or as patch text, wherever it stands in a list."""
    family = ToolFamily(
        ("t",),
        ("edit",),
        paths=("e[].file", "all[]"),
        added=("e[].new",),
        patches=(PatchArgument("diff", PatchFormat.UNIFIED),),
        removed=("e[].old",),
    )
    claims = Claims([family])
    assert [claim.format for claim in claims.on(("e", 7, "new"))] == [None]
    assert [claim.format for claim in claims.on(("diff",))] == [PatchFormat.UNIFIED]
    assert claims.on(("e", 7, "old")) == ()
    assert claims.removes(("e", 0, "old"))
    assert claims.guides(("e", 2, "file"))
    assert claims.guides(("all",))
    assert not claims.guides(("diff",))
    assert claims.unwraps(("e",))
    assert claims.unwraps(("e", 0))
    assert not claims.unwraps(("diff",))


def test_place_is_the_file_of_the_same_list_item() -> None:
    """Each edit is for the file that stands beside it."""
    family = ToolFamily(("t",), ("edit",), paths=("e[].file",))
    found = seen('{"e": [{"file": "a"}, {"file": "b"}]}')
    assert place([family], ("e", 1, "new"), found) == Place(("b",), 34)
    assert place([family], ("e", 2, "new"), found) is None


def test_place_of_a_tool_without_paths_is_nowhere_at_once() -> None:
    """There is nothing to wait for."""
    assert place([ToolFamily(("t",), ())], ("x",), seen("{")) == Place((), 0)


def test_place_of_several_files_waits_for_the_end_of_the_list() -> None:
    """A list of paths is known when it is complete; an empty one names nothing."""
    family = ToolFamily(("t",), ("edit",), paths=("paths[]",))
    assert place([family], ("x",), seen('{"paths": ["a", "b"')) is None
    assert place([family], ("x",), seen('{"paths": ["a", "b"]')) == Place(("a", "b"), 20)
    assert place([family], ("x",), seen('{"paths": []')) is None
    assert place([family], ("x",), seen('{"paths": ""')) is None


def test_final_paths_are_the_last_ones_and_the_new_name() -> None:
    """A key that came twice counts with its last value; a rename adds a name."""
    family = ToolFamily(("t",), ("edit",), paths=("path",), renamed=("to",))
    found = seen('{"path": "a", "path": "b", "to": "c"}')
    assert final_paths([family], ("x",), found) == ("b", "c")


def test_paths_by_key_takes_what_is_called_a_path() -> None:
    """Top-level keys that end in path or paths, or are known names of one."""
    found = seen('{"outputPath": "a", "paths": ["b", ""], "deep": {"path": "c"}, "x": "d"}')
    assert paths_by_key(found) == ("a", "b")


def test_file_that_is_known_from_outside_is_that_of_calls_that_name_none() -> None:
    """It is known before the call begins, and stays."""
    windowed = ToolFamily(("edit",), ("edit",), added=("new",), file="a.py")
    assert place([windowed], ("new",), seen("{")) == Place(("a.py",), 0)
    assert final_paths([windowed], ("new",), seen('{"new": "x"}', closed=True)) == ("a.py",)
    naming = ToolFamily(("edit",), ("edit",), paths=("path",), added=("new",))
    named = seen('{"path": "b.py"}', closed=True)
    assert final_paths([windowed, naming], ("new",), named) == ("b.py",)
