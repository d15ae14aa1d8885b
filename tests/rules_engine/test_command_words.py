from __future__ import annotations

import sys
from types import FrameType

import pytest

from rules_engine.arguments import ArgumentPath
from rules_engine.command_words import Command, CommandWords
from rules_engine.families import shell_family

LIST = shell_family(("shell",), ("command",), words=("command[]",))
OBJECTS = shell_family(("run",), ("all", "all[].command"), words=("all[].command", "all[].args[]"))


def told(words: CommandWords, *values: tuple[ArgumentPath, str]) -> list[bool]:
    """Give the words one after the other; say of each whether it is read as a script."""
    scripts = []
    for path, word in values:
        scripts.append(words.script(path) is not None)
        words.note(path, word)
    return scripts


def listed(*texts: str) -> list[tuple[ArgumentPath, str]]:
    return [(("command", at), text) for at, text in enumerate(texts)]


def test_words_of_a_list_come_to_a_line() -> None:
    """Quoted where a shell would need it, once the list is over."""
    words = CommandWords([LIST])
    assert told(words, *listed("sed", "-i", "s/a/b c/", "f")) == [False] * 4
    assert words.ended(("other",)) is None
    assert words.ended(("command",)) == Command(LIST, "sed -i 's/a/b c/' f")
    assert words.ended(("command",)) is None


def test_lone_word_of_a_list_is_a_line() -> None:
    """Models forget to part it."""
    words = CommandWords([LIST])
    told(words, *listed("echo x > a"))
    assert words.ended(("command",)) == Command(LIST, "echo x > a", alone=True)


@pytest.mark.parametrize("texts", [("bash", "-lc", "ls"), ("apply_patch", "*** Begin Patch")])
def test_script_is_read_by_itself(texts: tuple[str, ...]) -> None:
    """It is known to be one before it begins, so that it can be read while it streams."""
    words = CommandWords([LIST])
    assert told(words, *listed(*texts)) == [False] * (len(texts) - 1) + [True]
    assert words.ended(("command",)) is None


def test_name_and_arguments_are_one_command_for_each_object() -> None:
    """In this order, whichever comes first; a name alone is read as a line already."""
    words = CommandWords([OBJECTS])
    scripts = told(
        words,
        (("all", 0, "args", 0), "-i"),
        (("all", 0, "args", 1), "x y"),
        (("all", 0, "command"), "sed"),
        (("all", 1, "command"), "ls"),
        (("all", 2, "command"), "bash"),
        (("all", 2, "args", 0), "-c"),
        (("all", 2, "args", 1), "ls"),
    )
    assert scripts == [False] * 6 + [True]
    assert words.ended(("all", 0)) == Command(OBJECTS, "sed -i 'x y'")
    assert words.ended(("all", 1)) is None
    assert words.ended(("all", 2)) is None


def test_long_command_costs_what_it_is_long() -> None:
    """Behind its first words nothing looks back at them."""
    words, looks = CommandWords([LIST]), 0

    def note(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal looks
        looks += event == "call" and frame.f_code.co_name == "flat"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        told(words, *listed(*["sudo"] * 2_000))
    finally:
        sys.setprofile(before)
    assert 0 < looks < 100


def test_other_arguments_are_no_words() -> None:
    """A family without words has none at all."""
    assert CommandWords([shell_family(("bash",), ("command",))]).ended(("command",)) is None
    words = CommandWords([LIST])
    assert words.script(("workdir",)) is None
    words.note(("workdir",), "x")
    assert words.ended(("command",)) is None
