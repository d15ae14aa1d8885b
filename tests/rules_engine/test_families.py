from __future__ import annotations

import pytest

from rules_engine.families import (
    HEURISTIC,
    PatchArgument,
    PatchFormat,
    ToolFamily,
    bare_name,
    bound,
    canonical_of,
    covers,
    named,
    own_names,
    parsed,
    possible_names,
    shell_family,
)


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Write", "write"),
        ("mcp__files__Write_File", "write_file"),
        ("developer__shell", "shell"),
        ("functions.edit", "edit"),
        ("files/edit", "edit"),
        ("server:edit", "edit"),
        ("trailing__", "trailing__"),
        (" edit ", "edit"),
    ],
)
def test_bare_name_drops_prefix_and_case(name: str, bare: str) -> None:
    """An MCP server or a namespace in front of a name does not matter."""
    assert bare_name(name) == bare


def test_own_names_hold_both_spellings() -> None:
    """A scope may name a tool with its prefix or without."""
    assert own_names("MCP__Fs__Edit") == ("mcp__fs__edit", "edit")
    assert own_names("Edit") == ("edit",)


def test_parsed_splits_an_argument_path() -> None:
    """List marks become places for any position."""
    assert parsed("edits[].newText") == ("edits", None, "newText")
    assert parsed("paths[]") == ("paths", None)
    assert parsed("") == ()


def test_covers_wants_positions_for_list_marks() -> None:
    """A list mark stands for a position, never for a key."""
    spec = parsed("edits[].newText")
    assert covers(spec, ("edits", 4, "newText"))
    assert not covers(spec, ("edits", "x", "newText"))
    assert not covers(spec, ("edits", 4))


def test_bound_takes_positions_over_as_far_as_both_agree() -> None:
    """The path that belongs to an edit is the one in the same list item."""
    path = ("edits", 3, "new")
    assert bound(parsed("edits[].file"), path) == ("edits", 3, "file")
    assert bound(parsed("paths[]"), path) == ("paths", None)
    assert bound(parsed("file"), path) == ("file",)


def test_possible_names_hold_all_that_a_tool_may_turn_out_to_be() -> None:
    """Families, the formats inside a shell command, and what any tool may turn out to do."""
    families = (shell_family(("bash",), ("command",)),)
    assert named(families, "Bash") == families
    assert set(possible_names(families, "Bash")) == {"bash", "shell", "edit", "write"}
    assert set(possible_names((), "grep")) == {"grep", "edit", "write"}


def test_canonical_of_counts_patch_arguments() -> None:
    """A patch argument can lend names of its own."""
    patch = PatchArgument("x", PatchFormat.SHELL, ("write",))
    assert canonical_of(ToolFamily(("t",), ("shell",), patches=(patch,))) == ("shell", "write")


def test_heuristic_lists_no_tools() -> None:
    """What is tried on any tool belongs to none."""
    assert all(not family.tools for family in HEURISTIC)
